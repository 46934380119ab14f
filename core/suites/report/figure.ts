import type { BenchmarkCase } from '../../case'
import { operationText } from '../../case-words'
import type { Ceiling } from '../../session/types'
import { geometricMean } from '../../stats/descriptive'
import type { Suite } from '../types'
import { implName, Material, words, type Measured, type SuiteResult } from './material'

/** One implementation of a row. `value`: a ratio, or a median in ns, as the quantity of the figure says. */
export interface FigureDot {
  impl: string
  value: number
  /** 95 % interval of a time, in ns. */
  low?: number
  high?: number
}

/** What a suite's picture shows: a row for each operation and size, or for each operation where those are too many, and a dot for each implementation. */
export interface SuiteFigure {
  quantity: 'ratio' | 'time'
  /** What the dots are, in a sentence. */
  about: string
  /** Implementations in the order of the legend, each with a case of it. */
  impls: { name: string; case: BenchmarkCase }[]
  rows: { label: string; dots: FigureDot[] }[]
}

/** More rows than these are drawn by operation. */
const MAX_ROWS = 80

/** The results of a suite as one picture: speedups over its library where there are any, else times. */
export function suiteFigure(suite: Suite, results: readonly SuiteResult[], ceilings: readonly Ceiling[]): SuiteFigure {
  const material = new Material(suite, results, ceilings)
  const ratios = material.ok.some((result) => material.speedup(result) !== undefined)
  const drawn = ratios ? material.ok.filter((result) => material.speedup(result) !== undefined) : material.ok
  const impls = [...new Map(drawn.map(({ case: c }) => [implName(c), c]))].map(([name, c]) => ({ name, case: c }))
  const dot = (result: Measured): FigureDot =>
    ratios
      ? { impl: implName(result.case), value: material.speedup(result)! }
      : { impl: implName(result.case), value: result.medianNs, ...(result.ciLowNs === undefined || result.ciHighNs === undefined ? {} : { low: result.ciLowNs, high: result.ciHighNs }) }
  const rows = grouped(drawn, rowName(drawn)).map(([label, own]) => ({ label, dots: own.map(dot) }))
  const about = ratios ? `Speedup over ${suite.against}: right of 1 is faster` : 'Median time of a call: further left is faster'
  if (rows.length <= MAX_ROWS) return { quantity: ratios ? 'ratio' : 'time', about: `${about}.`, impls, rows }
  const byOp = grouped(drawn, ({ case: c }) => operationText(c)).map(([label, own]) => ({ label, dots: impls.flatMap(({ name }): FigureDot[] => {
    const values = own.map(dot).filter(({ impl }) => impl === name).map(({ value }) => value)
    const mean = geometricMean(values)
    return mean === undefined ? [] : [{ impl: name, value: mean }]
  }) }))
  return { quantity: ratios ? 'ratio' : 'time', about: `${about}; geometric mean over the sizes of an operation.`, impls, rows: byOp }
}

/** The name of a row: operation and size, with dtype and mode where they differ. */
function rowName(results: readonly Measured[]): (result: Measured) => string {
  const several = (of: (c: BenchmarkCase) => string) => new Set(results.map((result) => of(result.case))).size > 1
  const [dtypes, modes] = [several((c) => c.dtype), several((c) => c.mode)]
  return ({ case: c }) => [words(c), ...(dtypes ? [c.dtype] : []), ...(modes ? [c.mode] : [])].join(' ')
}

function grouped(results: readonly Measured[], key: (result: Measured) => string): [string, Measured[]][] {
  const groups = new Map<string, Measured[]>()
  for (const result of results) groups.set(key(result), [...(groups.get(key(result)) ?? []), result])
  return [...groups]
}
