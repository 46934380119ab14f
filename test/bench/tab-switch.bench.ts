import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { SessionFile } from '@core/session/types'
import { openHistory } from '../../main/history'
import { mergeSessions } from '../../main/history/derive'
import { dataPaths } from '../../main/paths'
import { median, processesBelow, startApp, whenShown, type BenchApp } from './app'
import { loadFigure, type Bench, type Figure } from './bench'

const results = join(import.meta.dirname, 'results')
const read = (name: string) => JSON.parse(gunzipSync(readFileSync(join(results, `${name}-session.json.gz`))).toString()) as SessionFile

/** The recorded sessions of an H200, apart and as one of 1,302 results. */
function prepare(): { dataDir: string; python: string; merged: string } {
  const dataDir = mkdtempSync(join(tmpdir(), 'opscope-bench-'))
  const { history } = openHistory(dataPaths(dataDir).history)
  const ids = [read('app'), read('python')].map((file) => history.importSession(file).id) as [string, string]
  const merged = mergeSessions(history, ids).session.id
  history.close()
  return { dataDir, python: ids[1], merged }
}

const TABS = "[...document.querySelectorAll('[role=tablist][aria-label=Chart] [role=tab]')]"
/** A tab's picture is on screen: the frame after the one in which it was painted has begun. */
const PICTURE = "document.querySelector('[data-testid=chart] canvas, [data-testid=chart] svg, [data-testid=chart-empty]')"

/** Clicks a tab and waits until its picture has been painted; ms. */
const switchTo = (index: number) => `(async () => {
  const tab = ${TABS}[${index}]
  const from = performance.now()
  tab.click()
  await ${whenShown(`tab.getAttribute('aria-selected') === 'true' && ${PICTURE}`)}
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
  return performance.now() - from
})()`

async function open(app: BenchApp, id: string): Promise<void> {
  await app.evaluate(`location.hash = '#/session/${id}'`)
  await app.evaluate(whenShown(`location.hash.includes('${id}') && ${PICTURE}`))
  await app.evaluate('new Promise((resolve) => setTimeout(resolve, 3000))')
}

/** Every chart tab of the session of 792 results, again and again; then the memory of each process with a session of 1,302 results on screen, which all charts of another came before. */
const bench: Bench = async ({ args, say }) => {
  const rounds = Number(args['rounds'] ?? 5)
  const { dataDir, python, merged } = prepare()
  const app = await startApp({ dataDir })
  try {
    await app.evaluate(whenShown("performance.getEntriesByName('opscope:interactive').length"))
    await open(app, python)
    const titles = await app.evaluate<string[]>(`${TABS}.map((tab) => tab.textContent.trim())`)
    const times: number[][] = titles.map(() => [])
    for (let round = 0; round < rounds; round++) {
      for (const index of titles.keys()) {
        times[index]!.push(await app.evaluate<number>(switchTo(index)))
        await app.evaluate('new Promise((resolve) => setTimeout(resolve, 700))')
      }
    }
    for (const [index, title] of titles.entries()) say(`${title}: ${times[index]!.map(Math.round).join(', ')} ms`)
    const again = times.map((each) => median(each.slice(1)))
    await open(app, merged)
    const processes = processesBelow(app.pid)
    for (const index of titles.keys()) {
      await app.evaluate(switchTo(index))
      await app.evaluate('new Promise((resolve) => setTimeout(resolve, 700))')
    }
    const total = (all: typeof processes) => all.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6
    const withCharts = total(processesBelow(app.pid))
    for (const { kind, bytes } of processes) say(`${kind}: ${Math.round(bytes / 1e6)} MB`)
    const figures: Figure[] = [
      { name: `switch to a chart again, 792 results: slowest of ${titles.length} charts, medians of ${rounds - 1}`, value: Math.max(...again), unit: 'ms', aim: 150, better: 'less' },
      { name: 'the same, median over the charts', value: median(again), unit: 'ms', published: true },
      { name: 'the first switch to a chart, slowest', value: Math.max(...times.map(([first]) => first!)), unit: 'ms', published: true },
    ]
    if (processes.length > 0) figures.push({ name: 'memory of all processes with 1,302 results, shared pages counted once', value: total(processes), unit: 'MB', aim: 700, better: 'less' }, { name: 'the same after a look at every chart', value: withCharts, unit: 'MB', published: true })
    return { figures: [...figures, loadFigure()], rows: [...titles.map((title, index) => ({ chart: title, ms: times[index]!.map(Math.round).join(' ') })), ...processes.map(({ kind, bytes }) => ({ process: kind, bytes }))] }
  } finally {
    await app.close()
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}
export default bench
