import { crossovers, crossoverSentence, type Crossover } from '@core/analysis/crossover'
import { looksOf, markPath } from '@core/analysis/looks'
import { sizeOf } from '@core/analysis/size'
import { csvTable } from '@core/csv'
import { formatInteger, formatSizeTick, formatTime } from '@core/units'
import { axisStyle, logAxis, logBounds } from '../drawing/option/axes'
import { remembered, type ChartPoint } from '../data/points'
import { describe } from '../data/series'
import { frame, tooltipHtml } from '../drawing/option/frame'
import type { ChartTheme } from '../drawing/theme/theme'
import type { ChartUnit } from '../unit'
import { variantsOf, type Variant } from '../data/variants'

const METHOD = 'Only where one side is clearly faster below and the other above: the 95 % CI of the speedup lies beyond the significance threshold. Times are interpolated between neighbouring sizes as power laws (straight lines of log time over log size). The interval is where the 95 % band of the difference includes zero.'

export default {
  id: 'crossover',
  title: 'Crossover',
  about: 'From which size one implementation beats another, with its interval',
  order: 70,
  controls({ all }) {
    const { variants } = variantsOf(all)
    return [{ id: 'against', label: 'Pairs', options: variants.length > 2 ? [{ value: '', title: 'Every pair' }, ...variants.map(({ id, title }) => ({ value: id, title: `with ${title}` }))] : [] }]
  },
  draw({ points, values, theme, selected, size }) {
    const { found, pairs, unclear } = findCrossovers(points, values['against'] || undefined)
    return {
      option: crossoverOption(found, theme, selected, size.width),
      height: crossoverHeight(Math.min(MAX_CROSSOVERS, found.length)),
      empty: pairs
        ? `None of ${pairs === 1 ? 'the one pair' : `the ${formatInteger(pairs)} pairs`} clearly changes places${unclear ? `; in ${formatInteger(unclear)} the medians change order within their CIs` : ': whichever is faster stays so over all sizes that both measured'}.`
        : 'A crossover needs two implementations or backends that measured the same operation at two or more sizes.',
      ...(found.length ? { note: { text: `${found.length > MAX_CROSSOVERS ? `First ${MAX_CROSSOVERS} of ${formatInteger(found.length)} crossovers` : `${found.length} ${found.length === 1 ? 'crossover' : 'crossovers'} in ${formatInteger(pairs)} ${pairs === 1 ? 'pair' : 'pairs'}`}${unclear ? `, ${formatInteger(unclear)} unclear` : ''}`, about: METHOD } } : {}),
      csv: () => crossoverCsv(found),
    }
  },
} satisfies ChartUnit

/** Two variants that change places along the sizes of one operation. */
interface FoundCrossover {
  /** `add f32 hot` */
  what: string
  a: Variant
  b: Variant
  at: Crossover
  /** Sizes from which to which both were measured, in elements. */
  from: number
  to: number
  /** The winner's result at the first size above. */
  point: ChartPoint
}

export interface CrossoverSearch {
  found: FoundCrossover[]
  /** Pairs of variants that share at least two sizes of an operation. */
  pairs: number
  /** Those whose medians change order without a crossover that is clear. */
  unclear: number
}

type Sized = { size: number; medianNs: number; ciLowNs?: number; ciHighNs?: number; point: ChartPoint }

/** More threads of the same code are a matter of scaling; different code is compared with equal threads, or against what has none. */
function compete(a: ReadonlyMap<number, Sized>, b: ReadonlyMap<number, Sized>): boolean {
  const [x, y] = [[...a.values()][0]!.point.case, [...b.values()][0]!.point.case]
  if (x.backend === y.backend && x.impl === y.impl && x.device === y.device) return false
  return x.threads === undefined || y.threads === undefined || x.threads === y.threads
}

/** Every clear change of places between variants, within the same operation, dtype and mode; those with `against` alone where it is given. */
export const findCrossovers = (points: readonly ChartPoint[], against?: string): CrossoverSearch => remembered(points, `crossovers ${against ?? ''}`, () => search(points, against))

function search(points: readonly ChartPoint[], against?: string): CrossoverSearch {
  const { variants, of } = variantsOf(points)
  const byId = new Map(variants.map((variant) => [variant.id, variant]))
  const groups = new Map<string, Map<string, Map<number, Sized>>>()
  for (const point of points) {
    const size = sizeOf(point.case)
    if (size === undefined) continue
    const { op, dtype, mode } = describe(point.case).facets
    const key = `${op} ${dtype} ${mode}`
    const group = groups.get(key) ?? new Map<string, Map<number, Sized>>()
    groups.set(key, group)
    const own = group.get(of(point.case)) ?? new Map<number, Sized>()
    group.set(of(point.case), own)
    own.set(size, { size, medianNs: point.medianNs, point, ...(point.ciLowNs === undefined || point.ciHighNs === undefined ? {} : { ciLowNs: point.ciLowNs, ciHighNs: point.ciHighNs }) })
  }
  const result: CrossoverSearch = { found: [], pairs: 0, unclear: 0 }
  for (const [what, group] of groups) {
    const list = [...group]
    list.forEach(([idA, a], i) => {
      for (const [idB, b] of list.slice(i + 1)) {
        if (against !== undefined && idA !== against && idB !== against) continue
        if (!compete(a, b)) continue
        const common = [...a.keys()].filter((size) => b.has(size)).sort((p, q) => p - q)
        if (common.length < 2) continue
        result.pairs++
        const { found, unclear } = crossovers([...a.values()], [...b.values()])
        if (unclear) result.unclear++
        for (const at of found) {
          const next = common.find((size) => size > at.size) ?? common.at(-1)!
          result.found.push({ what, a: byId.get(idA)!, b: byId.get(idB)!, at, from: common[0]!, to: common.at(-1)!, point: (at.winner === 'a' ? a : b).get(next)!.point })
        }
      }
    })
  }
  return result
}

/** More rows than this are no chart. */
const MAX_CROSSOVERS = 80
const ROW_PX = 36
const MARGINS_PX = 52
/** Diameter of the mark of a variant. */
const MARK_PX = 10

/** Height in px that so many rows need. */
const crossoverHeight = (rows: number): number => rows * ROW_PX + MARGINS_PX

/** `312`, `63.9Ki`: a size that was interpolated has three digits. */
const size = formatSizeTick

/** `avx2 beats scalar from 312 (260 to 390) elements`. */
export const sentenceOf = ({ at, a, b }: FoundCrossover): string => crossoverSentence(at, a.title, b.title, size)

interface Api {
  value(dimension: number): number
  coord(value: [number, number]): [number, number]
}

/**
 * A row for each pair that changes places: a band over the sizes both measured, in the colour of whichever is faster,
 * with the crossing and its interval, and the sentence above it. Undefined without any.
 */
function crossoverOption(all: readonly FoundCrossover[], theme: ChartTheme, selected: ReadonlySet<string>, width: number) {
  const found = all.slice(0, MAX_CROSSOVERS)
  const x = logBounds(found.flatMap(({ from, to }) => [from, to]), 2)
  if (!x) return undefined
  const style = axisStyle(theme)
  const base = frame(theme, [])
  const left = Math.min(24 + Math.max(...found.map(({ what }) => what.length)) * 6.2, width * 0.3)
  const colorOf = ({ backend, impl, device }: Variant) => theme.colorOf(backend, impl, device)
  const looks = looksOf(found.flatMap(({ a, b }) => [a, b]).map((one) => ({ name: one.id, color: colorOf(one) })))
  const drawRow = (params: { dataIndex: number }, api: Api) => {
    const one = found[params.dataIndex]!
    const y = api.coord([one.at.size, params.dataIndex])[1] + 7
    const at = (elements: number) => api.coord([elements, params.dataIndex])[0]
    const [winner, loser] = one.at.winner === 'a' ? [one.a, one.b] : [one.b, one.a]
    const band = (from: number, to: number, variant: Variant) => ({ type: 'rect' as const, shape: { x: at(from), y: y - 3, width: Math.max(0, at(to) - at(from)), height: 6 }, style: { fill: colorOf(variant), opacity: 0.75 } })
    /** The mark of a variant, as it is in the other charts of these series, at the outer end of its band. */
    const mark = (size: number, variant: Variant) => ({
      type: 'path' as const,
      // Placed by x and y of the element: the library keeps the place that is part of a path's shape from the first drawing on.
      x: at(size) - MARK_PX / 2,
      y: y - MARK_PX / 2,
      shape: { pathData: markPath(looks.get(variant.id)!.symbol), x: 0, y: 0, width: MARK_PX, height: MARK_PX },
      style: { fill: colorOf(variant), stroke: theme.surface, lineWidth: 1 },
    })
    const picked = selected.has(one.point.id)
    const ink = { stroke: theme.text, lineWidth: picked ? 2.5 : 1.5 }
    const [low, high] = [at(one.at.low), at(one.at.high)]
    const cap = (px: number) => ({ type: 'line' as const, shape: { x1: px, y1: y - 5, x2: px, y2: y + 5 }, style: ink })
    return {
      type: 'group' as const,
      children: [
        band(one.from, one.at.size, loser),
        band(one.at.size, one.to, winner),
        mark(one.from, loser),
        mark(one.to, winner),
        { type: 'line' as const, shape: { x1: low, y1: y, x2: high, y2: y }, style: ink },
        cap(low),
        cap(high),
        { type: 'circle' as const, shape: { cx: at(one.at.size), cy: y, r: picked ? 6 : 4.5 }, style: { fill: theme.surface, ...ink } },
        { type: 'text' as const, style: { text: sentenceOf(one), x: at(x.min) + 6, y: y - 21, fill: theme.text, stroke: theme.surface, lineWidth: 4, fontSize: 11, fontFamily: theme.fontText } },
      ],
    }
  }
  return {
    ...base,
    grid: { left, right: 28, top: 32, bottom: 10 },
    tooltip: {
      ...base.tooltip,
      formatter: (item: { dataIndex: number }) => {
        const one = found[item.dataIndex]
        if (!one) return ''
        return tooltipHtml(`${one.what}: ${sentenceOf(one)}`, [
          ['Both take there', formatTime(one.at.ns)],
          ['Measured', `${size(one.from)} to ${size(one.to)} elements`],
          ['95 % CI', `${size(one.at.low)} to ${size(one.at.high)}`],
        ])
      },
    },
    xAxis: { ...logAxis(theme, 2, '', x, formatSizeTick), position: 'top' as const },
    yAxis: { ...style, type: 'category' as const, inverse: true, data: found.map(({ what }, i) => (found[i - 1]?.what === what ? '' : what)), axisTick: { show: false }, splitLine: { show: false }, axisLabel: { ...style.axisLabel, interval: 0, width: left - 16, overflow: 'truncate' as const, color: theme.text } },
    series: [
      {
        type: 'custom' as const,
        id: 'crossovers',
        data: found.map((one, row) => [one.at.size, row, one.point.id]),
        dimensions: ['size', 'row', 'id'],
        encode: { x: 0, y: 1 },
        clip: false,
        renderItem: drawRow,
      },
    ],
  }
}

/** Every crossover as CSV. */
export const crossoverCsv = (found: readonly FoundCrossover[]): string =>
  csvTable(
    ['case', 'faster_below', 'faster_above', 'size_elements', 'low_elements', 'high_elements', 'time_ns', 'measured_from', 'measured_to'],
    found.map((one) => {
      const [winner, loser] = one.at.winner === 'a' ? [one.a, one.b] : [one.b, one.a]
      return [one.what, loser.title, winner.title, one.at.size, one.at.low, one.at.high, one.at.ns, one.from, one.to]
    }),
  )
