import { crossovers, type Crossover } from '@core/analysis/crossover'
import { sizeOf } from '@core/analysis/size'
import { remembered } from '../data/points'
import { describe } from '../data/series'
import type { ChartPoint } from '../types'
import type { ChartUnit } from '../unit'
import { variantsOf, type Variant } from '../variants'
import { crossoverCsv, crossoverHeight, crossoverOption, MOST_CROSSOVERS } from './option'

const METHOD = 'Times are interpolated between neighbouring sizes as power laws (straight lines of log time over log size). The interval is where the 95 % band of the difference holds zero.'

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
    const { found, pairs } = findCrossovers(points, values['against'] || undefined)
    return {
      option: crossoverOption(found, theme, selected, size.width),
      height: crossoverHeight(Math.min(MOST_CROSSOVERS, found.length)),
      empty: pairs
        ? `None of ${pairs === 1 ? 'the one pair' : `the ${pairs} pairs`} changes places: whichever is faster stays so over all sizes that both measured.`
        : 'A crossover needs two implementations or backends that measured the same operation at two or more sizes.',
      ...(found.length ? { note: { text: found.length > MOST_CROSSOVERS ? `First ${MOST_CROSSOVERS} of ${found.length} crossovers` : `${found.length} ${found.length === 1 ? 'crossover' : 'crossovers'} in ${pairs} ${pairs === 1 ? 'pair' : 'pairs'}`, about: METHOD } } : {}),
      csv: () => crossoverCsv(found),
    }
  },
} satisfies ChartUnit

/** Two variants that change places along the sizes of one operation. */
export interface FoundCrossover {
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
}

type Sized = { size: number; medianNs: number; ciLowNs?: number; ciHighNs?: number; point: ChartPoint }

/** More threads of the same code are a matter of scaling; different code is compared with equal threads, or against what has none. */
function compete(a: ReadonlyMap<number, Sized>, b: ReadonlyMap<number, Sized>): boolean {
  const [x, y] = [[...a.values()][0]!.point.case, [...b.values()][0]!.point.case]
  if (x.backend === y.backend && x.impl === y.impl && x.device === y.device) return false
  return x.threads === undefined || y.threads === undefined || x.threads === y.threads
}

/** Every change of places between variants, within the same operation, dtype and mode; those with `against` alone where it is given. */
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
  const result: CrossoverSearch = { found: [], pairs: 0 }
  for (const [what, group] of groups) {
    const list = [...group]
    list.forEach(([idA, a], i) => {
      for (const [idB, b] of list.slice(i + 1)) {
        if (against !== undefined && idA !== against && idB !== against) continue
        if (!compete(a, b)) continue
        const common = [...a.keys()].filter((size) => b.has(size)).sort((p, q) => p - q)
        if (common.length < 2) continue
        result.pairs++
        for (const at of crossovers([...a.values()], [...b.values()])) {
          const next = common.find((size) => size > at.size) ?? common.at(-1)!
          result.found.push({ what, a: byId.get(idA)!, b: byId.get(idB)!, at, from: common[0]!, to: common.at(-1)!, point: (at.winner === 'a' ? a : b).get(next)!.point })
        }
      }
    })
  }
  return result
}
