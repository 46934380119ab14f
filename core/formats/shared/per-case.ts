import { standing } from '../../compare'
import { caseId, type BenchmarkCase } from '../../case'
import type { Result } from '../../result'
import { overRuns } from '../../stats/summarize'
import { fitText } from './foreign'

/** The right results of one case as one figure. Times in ns per call. */
export interface CaseFigure {
  /** Unique in the file, and the same for the same case in any file. */
  name: string
  case: BenchmarkCase
  medianNs: number
  /** 95 % CI of the median; absent where no result has one. */
  lowNs?: number
  highNs?: number
  /** What it is of, in the order measured; never empty. */
  results: Result[]
}

/** Parts of a name are set apart by `/`, which in a part is written `%2F`. */
const part = (text: string) => text.replaceAll('/', '%2F')

/** `add/n=1000/f32/cpu/avx2/cpu/hot/t1`: op, parameters by name, dtype, backend, implementation, device, mode, threads. At most 400 characters. */
export function caseName({ op, params, dtype, backend, impl, device, mode, threads }: BenchmarkCase): string {
  const values = Object.keys(params).sort().map((key) => `${key.replaceAll('=', '%3D')}=${String(params[key])}`)
  return fitText([op, ...values, dtype, backend, impl, device, mode, ...(threads === undefined ? [] : [`t${threads}`])].map(part).join('/'), 400)
}

/**
 * One figure per case for formats that know each benchmark once, from right results with statistics, in the order first
 * measured: by those that stand for it in comparisons, or of blocks alone by all. Of several: the median of their medians, and an interval whose unit is the repeat (core/stats/summarize.ts);
 * of two, one that holds both of theirs.
 */
export function figuresPerCase(results: readonly Result[]): CaseFigure[] {
  const groups = new Map<string, Result[]>()
  for (const result of results) {
    if (result.status !== 'ok' || !result.summary) continue
    const id = caseId(result.case)
    const group = groups.get(id)
    if (group) group.push(result)
    else groups.set(id, [result])
  }
  return [...groups.values()].map((all) => {
    const runs = all.filter(({ block }) => !block)
    const group = runs.length > 0 ? standing(runs) : all
    const summaries = group.flatMap(({ summary }) => summary ?? [])
    const over = overRuns(summaries.map((s) => s.medianNs))
    const lows = summaries.flatMap(({ ciLowNs }) => ciLowNs ?? [])
    const highs = summaries.flatMap(({ ciHighNs }) => ciHighNs ?? [])
    const figure: CaseFigure = { name: caseName(group[0]!.case), case: group[0]!.case, medianNs: over?.median ?? summaries[0]!.medianNs, results: group }
    if (over?.interval) {
      figure.lowNs = over.interval.low
      figure.highNs = over.interval.high
    } else if (lows.length > 0 && highs.length > 0) {
      figure.lowNs = Math.min(...lows)
      figure.highNs = Math.max(...highs)
    }
    return figure
  })
}
