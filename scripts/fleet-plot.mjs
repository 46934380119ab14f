/**
 * Draws test/bench/results/fleet-scale.json as docs/fleet-scale.svg: cases per second and memory of each part against the
 * number of devices. `node scripts/fleet-plot.mjs` after `npm run bench -- fleet-scale`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { LineChart, ScatterChart } from 'echarts/charts'
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components'
import * as echarts from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'

echarts.use([LineChart, ScatterChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer])
const root = resolve(import.meta.dirname, '..')
const { rows, machine, date } = JSON.parse(readFileSync(join(root, 'test/bench/results/fleet-scale.json'), 'utf8'))
const most = Math.max(...rows.map(({ cases }) => cases))
const growth = rows.filter(({ cases }) => cases < most)
const whole = rows.filter(({ cases }) => cases === most)
const axis = { type: 'log', min: 10, max: 1000, name: 'devices', nameLocation: 'middle', nameGap: 24 }
const line = (name, plot, of, color) => [
  { type: 'line', name, xAxisIndex: plot, yAxisIndex: plot, data: growth.map((row) => [row.devices, of(row)]), color, symbol: 'circle', symbolSize: 6, animation: false },
  { type: 'scatter', name, xAxisIndex: plot, yAxisIndex: plot, data: whole.map((row) => [row.devices, of(row)]), color, symbol: 'diamond', symbolSize: 13, animation: false },
]
const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: 960, height: 360 })
chart.setOption({
  backgroundColor: '#ffffff',
  textStyle: { fontFamily: 'Inter, system-ui, sans-serif' },
  title: [
    { text: 'Cases per second', left: 56, top: 6, textStyle: { fontSize: 13 } },
    { text: 'Memory, MiB', left: 536, top: 6, textStyle: { fontSize: 13 } },
    { text: `Lines: ${growth[0].cases.toLocaleString('en-US')} cases each; diamonds: ${most.toLocaleString('en-US')} cases. ${machine.logicalCpus} processors at a load of ${machine.load}, ${date.slice(0, 10)}`, left: 56, bottom: 2, textStyle: { fontSize: 11, fontWeight: 400, color: '#555d6b' } },
  ],
  legend: { bottom: 20, itemWidth: 18 },
  grid: [{ left: 56, width: 380, top: 36, bottom: 96 }, { left: 536, width: 400, top: 36, bottom: 96 }],
  xAxis: [{ ...axis, gridIndex: 0 }, { ...axis, gridIndex: 1 }],
  yAxis: [{ type: 'log', gridIndex: 0 }, { type: 'log', gridIndex: 1 }],
  series: [
    ...line('put into the queue', 0, (row) => Math.round(row.cases / row.submitSeconds), '#b87400'),
    ...line('measured and in the history', 0, (row) => Math.round(row.cases / row.seconds), '#0062ad'),
    ...line('nats-server', 1, (row) => row.serverMiB, '#00825f'),
    ...line('all agents', 1, (row) => row.agentsMiB, '#b0558a'),
    ...line('collector', 1, (row) => row.collectorMiB, '#5f6672'),
  ],
})
writeFileSync(join(root, 'docs', 'fleet-scale.svg'), `${chart.renderToSVGString()}\n`)
chart.dispose()
process.exit(0)
