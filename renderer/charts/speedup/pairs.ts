import { Baseline } from '@core/analysis/baseline'
import { comparedWith } from '@core/analysis/opening'
import { speedupOf } from '@core/analysis/timing'
import { caseId, type BenchmarkCase } from '@core/case'
import { seriesKey } from '@core/backends'
import { shortName } from '../data/layers'
import { remembered, type ChartPoint } from '../data/points'
import type { ChartContext, Control } from '../unit'
import { workKey, variantsOf, type Variant } from '../data/variants'

/** A result against the baseline's result of the same problem. */
export interface Speedup {
  point: ChartPoint
  base: ChartPoint
  variant: Variant
  ratio: number
  low?: number
  high?: number
}

type Source = Pick<ChartContext, 'all' | 'points' | 'others'>

const SESSION = 'session:'
/** Before a series key: its results on the hardware and with the threads of each case, as the table's column has it. */
const LIKE = 'like:'

/**
 * What can be the baseline: each session laid over, each implementation that was measured in several ways, like for like,
 * and each variant where there are several. Without a session laid over, PyTorch eager is preferred, else what shares the most work with others.
 */
export function baselineControl({ all, others }: Pick<Source, 'all' | 'others'>): Control {
  const { variants } = variantsOf(all)
  const keys = [...new Set(variants.map(seriesKey))]
  const several = keys.filter((key) => keys.length > 1 && variants.filter((one) => seriesKey(one) === key).length > 1)
  const compared = others.length ? undefined : remembered(all, 'compared with', () => comparedWith(all))
  const first = compared && variants.find((one) => seriesKey(one) === seriesKey(compared))
  const preferred = first && (several.includes(seriesKey(first)) ? `${LIKE}${seriesKey(first)}` : first.id)
  return {
    id: 'baseline',
    label: 'Baseline',
    options: [
      ...others.map((layer) => ({ value: `${SESSION}${layer.id}`, title: `against ${shortName(layer.name)}` })),
      ...several.map((key) => ({ value: `${LIKE}${key}`, title: `against ${key.replace('/', ' ')}, like for like` })),
      ...(variants.length > 1 ? variants.map(({ id, title }) => ({ value: id, title: `against ${title}` })) : []),
    ],
    ...(preferred !== undefined && variants.length > 1 ? { preferred } : {}),
  }
}

/**
 * Every result that has a partner in the baseline: another variant's of the same problem, or the same case in another
 * session. Of repeated cases the last stands for all. The baseline is looked for beyond the focus.
 */
export function speedups({ all, points, others }: Source, baseline: string): Speedup[] {
  const session = others.find(({ id }) => baseline === `${SESSION}${id}`)
  const find = () => findSpeedups(all, points, session?.points, baseline)
  return session ? find() : remembered(points, `speedups ${baseline}`, find)
}

function findSpeedups(all: readonly ChartPoint[], points: readonly ChartPoint[], session: readonly ChartPoint[] | undefined, baseline: string): Speedup[] {
  const { variants, of } = variantsOf(all)
  const byId = new Map(variants.map((variant) => [variant.id, variant]))
  const keyOf: (c: BenchmarkCase) => string = session ? caseId : workKey
  const bases = new Map<string, ChartPoint>()
  const alike = baseline.startsWith(LIKE) ? new Baseline(baseline.slice(LIKE.length)) : undefined
  if (alike) for (const [index, point] of all.entries()) alike.add({ case: point.case, index, ok: true })
  else for (const point of session ?? all) if (session || of(point.case) === baseline) bases.set(keyOf(point.case), point)
  const baseOf = (c: BenchmarkCase) => {
    const match = alike?.of(c)
    return match ? (match.ok ? all[match.index] : undefined) : bases.get(keyOf(c))
  }
  const last = new Map<string, Speedup>()
  for (const point of points) {
    const variant = of(point.case)
    const base = !session && variant === baseline ? undefined : baseOf(point.case)
    const found = base && speedupOf(point, base)
    if (found) last.set(caseId(point.case), { point, base, variant: byId.get(variant)!, ...found })
  }
  return [...last.values()]
}

/** What is missing for a speedup, in a sentence. */
export function noSpeedup({ all, points }: Source, baseline?: string): string {
  const { variants, of } = variantsOf(all)
  if (variants.length < 2) return `Speedups need two implementations, backends or sessions that measured the same case; here is only ${variants[0]?.title ?? 'none'}. Measure with another, or lay a session over this one.`
  const own = (point: ChartPoint) => of(point.case) === baseline || `${LIKE}${seriesKey(point.case)}` === baseline
  if (points.length && points.every(own)) return 'Only the baseline itself is shown. Choose another implementation or baseline.'
  return points.length ? 'None of these cases has been measured with the baseline too. Choose another baseline, or show more.' : 'No case is left by what is chosen above.'
}
