import { csvTable } from '@core/csv'
import type { BenchmarkCase } from '@core/case'
import { choiceTitle, flopsKind } from '@core/roofline/ceilings'
import { peakKindOf } from '@core/roofline/roofline'
import { formatBandwidth, formatFlops, formatInteger, formatCount, formatPercent } from '@core/units'
import { logAxis, logBounds } from '../drawing/option/axes'
import { linesOf } from '../data/layers'
import type { ChartPoint } from '../data/points'
import { cacheRoofs, roofChoice, roofGroups, roofsOfCases, sameChoice, type Roof } from '../data/roofs'
import { cacheLine, levelOf } from './caches'
import type { ChartSeries } from '../data/series'
import { DIRECT_LABELS, frame, intervalText, legendOf, tooltipHtml } from '../drawing/option/frame'
import type { ChartTheme } from '../drawing/theme/theme'
import type { ChartUnit } from '../unit'

/** Marks lie apart by intensity, so that more of them can be read than lines. */
const MAX_SERIES = 60

export default {
  id: 'roofline',
  title: 'Roofline',
  about: 'Arithmetic rate against intensity under measured (solid) and published (dashed) limits',
  order: 30,
  // Operations stay: each has its own intensity, and one alone would be a single column.
  narrowing: { readable: 36, facets: ['mode', 'dtype', 'threads', 'backend', 'impl'], frequent: true, fastest: ['backend', 'impl'] },
  takes: (points) => points.filter((point) => point.flops > 0 && point.bytes > 0),
  layers: true,
  draw(context) {
    const { series, drawn, note } = linesOf(context, MAX_SERIES, MAX_SERIES)
    const limits = [context, ...context.others]
    const caches = cacheRoofs(context.ceilings)
    const layers = limits.map((layer, i) => ({ name: layer.name, series: drawn.filter((one) => (one.layer ?? 0) === i), roofs: layer.roofs, datasheets: layer.datasheets, ...(i === 0 ? { caches } : {}) }))
    const option = rooflineOption(layers, context.theme, context.selected, context.size.width)
    const remark = option && !limits.some(({ roofs }) => roofs.length) ? noRoofs(context.elsewhere) : note
    return {
      option,
      empty: 'None of these operations does arithmetic, so they have no place on a roofline.',
      ...(remark ? { note: remark } : {}),
      csv: () => rooflineCsv(series, limits.flatMap(({ roofs }) => roofs), limits.flatMap(({ datasheets }) => datasheets)),
    }
  },
} satisfies ChartUnit

/** A session of another machine offers no measurement: this machine's ceilings would not be its own. */
const noRoofs = (elsewhere: boolean) =>
  elsewhere
    ? { text: 'No measured roofs', about: 'The session has no ceilings of its devices, which are not on this machine. Measure the ceilings on the machine of the session, then import its session again.' }
    : { text: 'No measured roofs', about: "The ceilings of this session's devices have not been measured here. Measure them in Devices.", action: { title: 'Measure ceilings…', command: 'view.devices' as const } }

/** FLOP per byte of minimum memory traffic (S. Williams, A. Waterman, D. Patterson, "Roofline", CACM 2009); 0 where nothing is computed. */
export const intensityOf = (point: ChartPoint): number => (point.bytes > 0 ? point.flops / point.bytes : 0)

/** Roofs within this factor share a label: what a line of text takes on an axis of six decades. */
const NEAR = 2

interface DeviceRoofs {
  device: string
  /** Level and threads of a processor that they hold for. */
  choice?: Roof['choice']
  name: string
  bandwidth: number
  peaks: { dtype: string; value: number; stale?: string }[]
  /** Why the bandwidth may not be today's. */
  stale?: string
}

/** `place`: session and device. */
type PlacedRoofs = DeviceRoofs & { place: string }

/** Roofs of the devices, and on a processor of the levels and thread counts, that have both a bandwidth and at least one peak of what computes the points shown. */
function roofsOf(cases: readonly BenchmarkCase[], roofs: readonly Roof[]): DeviceRoofs[] {
  const kinds = new Set(cases.map(peakKindOf))
  return [...Map.groupBy(roofsOfCases(roofs, cases), ({ device, choice }) => `${device}|${choice ? choiceTitle(choice) : ''}`).values()].flatMap((own) => {
    const { device, choice } = own[0]!
    const copy = own.find((roof) => roof.kind === 'copy')
    const peaks = own.filter((roof) => kinds.has(roof.kind)).map((roof) => ({ dtype: roof.kind.slice(6), value: roof.value, ...(roof.stale === undefined ? {} : { stale: roof.stale }) }))
    return copy && peaks.length ? [{ device, ...(choice ? { choice } : {}), name: choice ? `${copy.deviceName} ${choiceTitle(choice)}` : copy.deviceName, bandwidth: copy.value, peaks, ...(copy.stale === undefined ? {} : { stale: copy.stale }) }] : []
  })
}

/** One session on the roofline. */
export interface RooflineLayer {
  name: string
  series: readonly ChartSeries[]
  roofs: readonly Roof[]
  datasheets: readonly Roof[]
  /** Measured bandwidths of caches; drawn as slopes above that of memory. */
  caches?: readonly Roof[]
}

/** Whether a cache is one of those behind these roofs: of the device, on a processor measured with the same level and thread count. */
const isUnder = (cache: Roof, { device, choice }: DeviceRoofs): boolean => cache.device === device && sameChoice(cache.choice, choice)

const sameRoofs = (a: DeviceRoofs, b: DeviceRoofs) => a.name === b.name && a.bandwidth === b.bandwidth && JSON.stringify(a.peaks) === JSON.stringify(b.peaks)

/** A `cuda:0` of another session may be another card: devices are told apart by session. */
const placeOf = (layer: number, device: string, choice?: Roof['choice']) => `${layer}|${device}${choice ? `|${choiceTitle(choice)}` : ''}`

/**
 * Roofline: FLOP/s against arithmetic intensity, both logarithmic, under the measured roofs (solid) of each device of each
 * session, with published figures as thin dashed lines beside them. Roofs that sessions share are drawn once.
 * Ops that compute nothing (copy) have no place on it. Undefined when there is nothing to draw.
 */
export function rooflineOption(layers: readonly RooflineLayer[], theme: ChartTheme, selected: ReadonlySet<string>, width?: number) {
  const drawn = layers.flatMap(({ series }, layer) => series.map((s) => ({ layer, series: s, points: s.points.filter(({ point }) => point.flops > 0 && point.bytes > 0) }))).filter((s) => s.points.length)
  if (!drawn.length) return undefined
  const all = drawn.flatMap((s) => s.points.map((p) => p.point))
  const roofsFor = (list: (layer: RooflineLayer) => readonly Roof[]) =>
    layers.flatMap((layer, i) => {
      const own = drawn.filter((s) => s.layer === i).flatMap((s) => s.points.map((p) => p.point.case))
      return roofsOf(own, list(layer)).map((d) => ({ ...d, place: placeOf(i, d.device, d.choice) }))
    })
  const known = roofsFor((layer) => layer.roofs)
  const devices = known.filter((d, i) => known.findIndex((other) => sameRoofs(d, other)) === i)
  // The same card through two backends, or in two sessions, is one promise.
  const published = roofsFor((layer) => layer.datasheets).filter((d, i, list) => list.findIndex((other) => other.name === d.name) === i)
  const rate = (point: ChartPoint) => (point.flops / point.medianNs) * 1e9
  const ridges = [...devices, ...published].flatMap((d) => d.peaks.map((peak) => peak.value / d.bandwidth))
  const x = logBounds([...all.map(intensityOf), ...ridges.map((r) => r * 2)], 2)!
  const y = logBounds([...all.map(rate), ...[...devices, ...published].flatMap((d) => d.peaks.map((p) => p.value))], 10)!
  // Of a card that several backends reach the caches are drawn once, on a processor those of one level and thread count drawn: more would hide the points.
  const caches = layers.flatMap((layer, i) => {
    const own = devices.filter((d) => d.place.startsWith(`${i}|`) && layer.caches?.some((cache) => isUnder(cache, d)))
    return (layer.caches ?? []).filter((cache) => {
      const alike = own.filter(({ device }) => device === cache.device)
      const drawn = alike.find(({ choice }) => choice === undefined) ?? alike[0]
      return drawn !== undefined && isUnder(cache, drawn)
    })
  }).filter((roof, i, all) => all.findIndex((other) => other.deviceName === roof.deviceName && other.kind === roof.kind) === i)
  const points = new Map(drawn.flatMap((s) => s.points.map(({ point }) => [point.id, { point, layer: s.layer }])))
  const keys = drawn.length > DIRECT_LABELS ? keysOf(drawn.map((s) => s.series), theme) : undefined
  const labels = keys ? keys.map(({ name }) => name) : drawn.map((s) => s.series.label)
  const base = frame(theme, labels)
  const { legend, height } = legendOf(theme, labels, 10, width)
  return {
    ...base,
    grid: { ...base.grid, right: 20, top: height + 22 },
    legend: { ...legend, selectedMode: keys === undefined },
    tooltip: {
      ...base.tooltip,
      formatter: (item: { value: [number, number, string]; seriesName: string }) => {
        const found = points.get(item.value[2])
        if (!found) return ''
        const { point, layer } = found
        const device = known.find((d) => d.place === placeOf(layer, point.case.device, roofChoice(layers[layer]!.roofs, point.case)))
        const peak = device?.peaks.find((p) => flopsKind(p.dtype) === peakKindOf(point.case))
        const attainable = device && peak ? Math.min(peak.value, device.bandwidth * intensityOf(point)) : undefined
        const level = layer === 0 && device ? levelOf(point, device.bandwidth, (layers[0]!.caches ?? []).filter((roof) => isUnder(roof, device))) : undefined
        return tooltipHtml(item.seriesName, [
          ...(layers.length > 1 ? [['Session', layers[layer]!.name] as const] : []),
          ['Intensity', `${formatCount(intensityOf(point))} FLOP/B`],
          ['Rate', formatFlops(rate(point))],
          ...(attainable ? [['Of the roof above it', formatPercent(rate(point) / attainable)] as const] : []),
          ...(level ? [['Memory level', level] as const] : []),
          ['95 % CI', intervalText(point)],
          ['Samples', formatInteger(point.samples)],
        ])
      },
    },
    xAxis: { ...logAxis(theme, 2, 'Arithmetic intensity (FLOP per byte)', x, (v) => (v < 1 ? `1/${Math.round(1 / v)}` : String(Math.round(v)))), nameGap: 28 },
    yAxis: { ...logAxis(theme, 10, 'FLOP/s', y, formatFlops), nameGap: 54 },
    series: [
      ...devices.flatMap((device) => device.peaks.map((peak) => roofLine(device, peak, x, theme))),
      ...published.flatMap((device) => device.peaks.map((peak, i) => publishedLine(device, peak, x, theme, i === 0, !devices.some(({ name }) => name === device.name)))),
      ...caches.map((cache) => cacheLine(cache, Math.max(...devices.filter((d) => isUnder(cache, d)).flatMap((d) => d.peaks.map(({ value }) => value))), x, theme)),
      roofNames(devices, x, theme),
      ...(keys ?? []),
      ...drawn.map(({ layer, series: s, points: own }) => {
        const color = theme.colorOf(s.backend, s.impl, s.facets.device)
        const itemStyle = layer ? { color: theme.surface, borderColor: color, borderWidth: 1.5 } : { color, opacity: 0.9 }
        return {
          type: 'scatter' as const,
          id: s.key,
          name: s.label,
          symbol: s.symbol,
          symbolSize: 8,
          color,
          itemStyle,
          data: own.map(({ point }) => {
            const value = [intensityOf(point), rate(point), point.id]
            return selected.has(point.id) ? { value, symbolSize: 13, itemStyle: { color, borderColor: theme.text, borderWidth: 2 } } : { value }
          }),
          emphasis: { focus: 'series' as const, scale: 1.3 },
          blur: { itemStyle: { opacity: 0.15 } },
          z: 3,
        }
      }),
    ],
  }
}

/** Series without points that a legend of many is made of: the mark of each operation, and the colour of each implementation. */
function keysOf(series: readonly ChartSeries[], theme: ChartTheme) {
  const entry = (name: string, symbol: string, color: string) => ({ type: 'scatter' as const, id: `key|${name}`, name, symbol, color, itemStyle: { color }, data: [] as { value: (number | string)[] }[] })
  const ops = new Map(series.map((s) => [s.op, s.symbol]))
  const impls = new Map(series.map((s) => [s.naming.includes('device') ? `${s.facets.device} ${s.impl}` : `${s.backend} ${s.impl}`, theme.colorOf(s.backend, s.impl, s.facets.device)]))
  return [...[...impls].map(([name, color]) => entry(name, 'roundRect', color)), ...(ops.size > 1 ? [...ops].map(([name, symbol]) => entry(name, symbol, theme.muted)) : [])]
}

function roofLine(device: PlacedRoofs, peak: { dtype: string; value: number }, x: { min: number; max: number }, theme: ChartTheme) {
  return {
    type: 'line' as const,
    id: `roof|${device.place}|${peak.dtype}`,
    name: `${device.name} ${peak.dtype}`,
    data: [[x.min, device.bandwidth * x.min], [peak.value / device.bandwidth, peak.value], [x.max, peak.value]],
    silent: true,
    symbol: 'none',
    tooltip: { show: false },
    lineStyle: { color: theme.muted, width: 1.25 },
    z: 1,
    clip: true,
  }
}

/** The roof of a datasheet, thin and dashed, with a name above its slope: it is a promise, not a measurement. */
function publishedLine(device: PlacedRoofs, peak: { dtype: string; value: number }, x: { min: number; max: number }, theme: ChartTheme, labelled: boolean, alone: boolean) {
  const line = roofLine(device, peak, x, theme)
  const named = [x.min * 4, device.bandwidth * x.min * 4]
  const label = { show: true, color: theme.muted, fontSize: 11, textBorderColor: theme.surface, textBorderWidth: 3 }
  return {
    ...line,
    id: `datasheet|${device.place}|${peak.dtype}`,
    name: `${device.name} ${peak.dtype}, datasheet`,
    lineStyle: { color: theme.muted, width: 1, type: 'dashed' as const, opacity: 0.6 },
    markPoint: {
      silent: true, symbol: 'circle', symbolSize: 1, itemStyle: { color: 'transparent' },
      data: [
        ...(labelled ? [{ coord: named, label: { ...label, formatter: `datasheet ${formatBandwidth(device.bandwidth)}`, position: 'top' as const, align: 'right' as const } }] : []),
        // Beside a measured peak its own name says enough.
        ...(alone ? [{ coord: [x.max, peak.value], label: { ...label, formatter: `${device.name} ${peak.dtype} datasheet ${formatFlops(peak.value)}`, position: 'top' as const, align: 'right' as const } }] : []),
      ],
    },
  }
}

/** Names of the roofs: peaks above their right end, bandwidths below the slope, which rises away from the text. */
function roofNames(devices: readonly DeviceRoofs[], x: { min: number; max: number }, theme: ChartTheme) {
  const asRoof = (device: DeviceRoofs, kind: string, { value, stale }: { value: number; stale?: string }): Roof => ({ device: device.device, deviceName: device.name, kind, value, unit: kind === 'copy' ? 'bytes/s' : 'FLOP/s', ...(stale === undefined ? {} : { stale }) })
  const peaks = roofGroups(devices.flatMap((d) => d.peaks.map((p) => asRoof(d, `flops:${p.dtype}`, p))), NEAR, formatFlops)
  const slopes = roofGroups(devices.map((d) => asRoof(d, 'copy', { value: d.bandwidth, ...(d.stale === undefined ? {} : { stale: d.stale }) })), NEAR, formatBandwidth)
  const name = (coord: number[], text: string, align: 'left' | 'right') => ({ coord, label: { show: true, formatter: text, position: align === 'right' ? ('top' as const) : ('bottom' as const), align, color: theme.muted, fontSize: 11, textBorderColor: theme.surface, textBorderWidth: 3 } })
  return {
    type: 'line' as const,
    id: 'roof names',
    data: [],
    silent: true,
    z: 5,
    markPoint: {
      silent: true,
      symbol: 'circle',
      symbolSize: 1,
      itemStyle: { color: 'transparent' },
      data: [
        ...peaks.map((line) => name([x.max, line.values[0]!], line.label, 'right')),
        // One tick in, so that the text stays clear of the axis below.
        ...slopes.map((line) => name([x.min * 2, line.values.at(-1)! * x.min * 2], line.label, 'left')),
      ],
    },
  }
}

/** What the chart shows, as CSV. */
const rooflineCsv = (series: readonly ChartSeries[], roofs: readonly Roof[], datasheets: readonly Roof[] = []): string => {
  const lines = (list: readonly Roof[], source: string) => list.map((roof) => [undefined, undefined, undefined, `${roof.deviceName} ${roof.kind}`, roof.value, roof.unit, source])
  return csvTable(
    ['series', 'flop_per_byte', 'flop_per_second', 'roof', 'roof_value', 'roof_unit', 'roof_source'],
    [
      ...series.flatMap((s) => s.points.filter(({ point }) => point.flops > 0).map(({ point: p }) => [s.label, intensityOf(p), (p.flops / p.medianNs) * 1e9])),
      ...lines(roofs, 'measured'),
      ...lines(datasheets, 'datasheet'),
    ],
  )
}
