import { autoBaselineOf, autoBaselineTitle, Baseline, baselineTitle } from '@core/analysis/baseline'
import { workOf } from '@core/analysis/size'
import { overCases, speedupOf } from '@core/analysis/timing'
import { caseId, type BenchmarkCase } from '@core/case'
import { seriesKey } from '@core/backends'
import { processorOf } from '@core/session/environment'
import { automaticBaselines } from '../data/automatic'
import { shortName } from '../data/layers'
import { remembered, type ChartPoint } from '../data/points'
import type { ChartContext, Control } from '../unit'
import { variantsOf, type Variant } from '../data/variants'

/** A result against the baseline's result of the same problem. */
export interface Speedup {
  point: ChartPoint
  base: ChartPoint
  variant: Variant
  /** Whose result the baseline is: `cuda kernel`, or the name of another session. */
  baseTitle: string
  ratio: number
  low?: number
  high?: number
  /** Both were measured in the same interleaved rounds. */
  paired: boolean
}

type Source = Pick<ChartContext, 'all' | 'points' | 'others'>

const SESSION = 'session:'
/** Before the series key of an implementation that was measured in several ways: its results on the hardware and with the threads of each case. */
const LIKE = 'like:'
/** The baseline that the table has where nobody has chosen one. */
const AUTO = 'auto'

const variantsOfKey = (all: readonly ChartPoint[], key: string) => variantsOf(all).variants.filter((one) => seriesKey(one) === key)

/**
 * What can be the baseline: each session laid over; what the table compares with by itself; each implementation, found by the rule of the table
 * (`Baseline`); and each variant of those that were measured in several ways. Without a session laid over, the automatic one is preferred.
 */
export function baselineControl({ all, others }: Pick<Source, 'all' | 'others'>): Control {
  const { variants } = variantsOf(all)
  const keys = variants.length > 1 ? [...new Set(variants.map(seriesKey))] : []
  const auto = keys.length > 1 ? autoBaselineTitle(automaticBaselines(all)) : undefined
  return {
    id: 'baseline',
    label: 'Baseline',
    options: [
      ...others.map((layer) => ({ value: `${SESSION}${layer.id}`, title: `over ${shortName(layer.name)}` })),
      ...(auto === undefined ? [] : [{ value: AUTO, title: `over ${auto} (automatic)` }]),
      ...keys.flatMap((key) => {
        const own = variantsOfKey(all, key)
        const each = own.map(({ id, title }) => ({ value: id, title: `over ${title}` }))
        if (keys.length === 1) return each
        return own.length === 1 ? [{ value: own[0]!.id, title: `over ${baselineTitle(key)}` }] : [{ value: `${LIKE}${key}`, title: `over ${baselineTitle(key)}` }, ...each]
      }),
    ],
    ...(others.length === 0 && auto !== undefined ? { preferred: AUTO } : {}),
  }
}

/** The implementation that a case is compared with under this choice; undefined where the choice is one variant of several. */
function keyFor(all: readonly ChartPoint[], baseline: string): ((c: BenchmarkCase) => string | undefined) | undefined {
  if (baseline === AUTO) return ({ device }) => autoBaselineOf(automaticBaselines(all), processorOf(device))
  const { variants } = variantsOf(all)
  const chosen = variants.find(({ id }) => id === baseline)
  const key = baseline.startsWith(LIKE) ? baseline.slice(LIKE.length) : chosen && seriesKey(chosen)
  return key === undefined || (chosen && variantsOfKey(all, key).length > 1) ? undefined : () => key
}

/**
 * Every result that has a partner in the baseline: another variant's of the same problem, or the same case in another
 * session. A case that was repeated counts once, as in comparisons (overCases). The baseline is looked for beyond the focus.
 */
export function speedups({ all, points, others }: Source, baseline: string): Speedup[] {
  const session = others.find(({ id }) => baseline === `${SESSION}${id}`)
  const find = (baseOf: FindBase, title?: string) => findSpeedups(all, casesOf(points), baseOf, title)
  return session ? find(baseIn(casesOf(session.points), caseId), shortName(session.name)) : remembered(points, `speedups ${baseline}`, () => find(baseAmong(casesOf(all), baseline)))
}

const casesOf = (points: readonly ChartPoint[]): readonly ChartPoint[] => remembered(points, 'cases', () => overCases(points))

type FindBase = (c: BenchmarkCase) => ChartPoint | undefined

/** The one of these points whose case has the same key, the last of several. */
function baseIn(points: readonly ChartPoint[], keyOf: (c: BenchmarkCase) => string): FindBase {
  const bases = new Map(points.map((point) => [keyOf(point.case), point]))
  return (c) => bases.get(keyOf(c))
}

function baseAmong(all: readonly ChartPoint[], baseline: string): FindBase {
  const { of } = variantsOf(all)
  const keyOf = keyFor(all, baseline)
  if (!keyOf) {
    const found = baseIn(all.filter((point) => of(point.case) === baseline), workOf)
    return (c) => (of(c) === baseline ? undefined : found(c))
  }
  const baselines = new Map<string, Baseline>()
  return (c) => {
    const key = keyOf(c)
    if (key === undefined) return undefined
    let known = baselines.get(key)
    if (!known) {
      baselines.set(key, (known = new Baseline(key)))
      for (const [index, point] of all.entries()) known.add({ case: point.case, index, ok: true })
    }
    const match = known.of(c)
    return match.ok ? all[match.index] : undefined
  }
}

function findSpeedups(all: readonly ChartPoint[], points: readonly ChartPoint[], baseOf: FindBase, title: string | undefined): Speedup[] {
  const { variants, of } = variantsOf(all)
  const byId = new Map(variants.map((variant) => [variant.id, variant]))
  return points.flatMap((point): Speedup[] => {
    const base = baseOf(point.case)
    const found = base && speedupOf(point, base)
    return found ? [{ point, base, variant: byId.get(of(point.case))!, baseTitle: title ?? byId.get(of(base.case))!.title, paired: inSameRounds(point, base), ...found }] : []
  })
}

const inSameRounds = (point: ChartPoint, base: ChartPoint): boolean => point.rounds?.some(({ group }) => base.rounds?.some((other) => other.group === group)) ?? false

/** What is missing for a speedup, in a sentence. */
export function noSpeedup({ all, points }: Source, baseline = ''): string {
  const { variants, of } = variantsOf(all)
  if (variants.length < 2) return `Speedups need two implementations, backends or sessions that measured the same case; here is only ${variants[0]?.title ?? 'none'}. Measure with another, or lay a session over this one.`
  const keyOf = keyFor(all, baseline)
  const own = ({ case: c }: ChartPoint) => (keyOf ? keyOf(c) === seriesKey(c) : of(c) === baseline)
  if (points.length && points.every(own)) return 'Only the baseline itself is shown. Choose another implementation or baseline.'
  return points.length ? 'None of these cases has been measured with the baseline too. Choose another baseline, or show more.' : 'No case is left by what is chosen above.'
}
