import { crossovers, crossoverSentence } from '../analysis/crossover'
import { LibraryTimes, RATINGS, summaryOf, type Rating } from '../analysis/ratings'
import { libraryOf } from '../analysis/ratings/libraries'
import { sizeOf, workOf } from '../analysis/size'
import type { BenchmarkCase } from '../case'
import { operationText, shapeText } from '../case-words'
import { findOp } from '../ops/registry'
import { statusWord, type Result } from '../result'
import { roofFinder, roofline, type RooflinePoint } from '../roofline/roofline'
import type { Ceiling } from '../session/types'
import { geometricMean } from '../stats/descriptive'
import { ABSENT, formatPercent, formatRatio, formatSize, formatTime } from '../units'
import type { Suite, SuiteSection } from './types'

/** A cell: its text, what a numeric column is sorted by, and the id of the result that it is about. */
export interface SuiteCell {
  text: string
  value?: number
  result?: string
}

/** A column: numbers stand right, names in the fixed-width face, sentences may wrap. */
export interface SuiteHead {
  title: string
  numeric?: boolean
  mono?: boolean
  wide?: boolean
}

/** One part of a suite's report: a sentence, a table, or both. */
export interface SuitePart {
  title: string
  text?: string
  table?: { heads: readonly SuiteHead[]; rows: readonly (readonly SuiteCell[])[] }
}

/** Samples vary by more than this share of their mean: a red flag of the Genesis suite. */
const HIGH_VARIATION = 0.2

type Measured = Result & { summary: NonNullable<Result['summary']> }
const isMeasured = (result: Result): result is Measured => result.status === 'ok' && result.summary !== undefined

/** Everything the parts of a report are made of. */
class Material {
  readonly ok: readonly Measured[]
  readonly #times = new LibraryTimes()
  readonly #points = new Map<string, RooflinePoint | undefined>()
  /** Names of implementations, in the order measured. */
  readonly impls: readonly string[]

  constructor(readonly suite: Suite, readonly results: readonly Result[], ceilings: readonly Ceiling[]) {
    this.ok = results.filter(isMeasured)
    for (const { case: c, summary } of this.ok) this.#times.add(c, summary.medianNs)
    const roofs = roofFinder(ceilings)
    for (const result of this.ok) this.#points.set(result.id, roofline({ ...result, medianNs: result.summary.medianNs }, roofs(result.case)))
    this.impls = [...new Set(this.ok.map(({ case: c }) => implName(c)))]
  }

  point(result: Measured): RooflinePoint | undefined {
    return this.#points.get(result.id)
  }

  /** Share of the measured memory bandwidth; undefined where no ceiling is known. */
  bandwidthShare(result: Measured): number | undefined {
    const point = this.point(result)
    return point?.efficiency !== undefined && point.bound !== 'compute' ? point.efficiency : undefined
  }

  /** How many times as fast as the suite's library; undefined of the library itself and where it was not measured. */
  speedup({ case: c, summary }: Measured): number | undefined {
    if (libraryOf(c) === this.suite.against) return undefined
    const ns = this.#times.fastestNs(c, this.suite.against)
    return ns === undefined ? undefined : ns / summary.medianNs
  }

  rating(result: Measured): Rating {
    const scale = RATINGS.find(({ id }) => id === this.suite.rating)!
    return scale.rate({ case: result.case, medianNs: result.summary.medianNs, efficiency: this.point(result)?.efficiency, bandwidthShare: this.bandwidthShare(result), fastestNs: (library) => this.#times.fastestNs(result.case, library) })
  }

  /** Results of the same work side by side, in the order measured. */
  byWork(): Measured[][] {
    const groups = new Map<string, Measured[]>()
    for (const result of this.ok) groups.set(workOf(result.case), [...(groups.get(workOf(result.case)) ?? []), result])
    return [...groups.values()]
  }
}

const implName = (c: BenchmarkCase): string => (c.backend === 'cpu' || c.backend === 'python' ? c.impl : c.backend) + (c.device.startsWith('python') && c.backend === 'python' && /cuda/.test(c.device) ? ' (GPU)' : '')

const words = (c: BenchmarkCase): string => `${operationText(c)} ${shapeText(c)}`

const text = (value: string): SuiteCell => ({ text: value })

/** `12.1 µs ± 0.4 µs`: mean and standard deviation, as these suites state them. */
const meanText = ({ summary }: Measured): string => `${formatTime(summary.meanNs ?? summary.medianNs)}${summary.stddevNs === undefined ? '' : ` ± ${formatTime(summary.stddevNs)}`}`

/** The suite's verdict, and how many times as fast as its library each implementation is over all of its work. */
function summaryPart(material: Material): SuitePart {
  const { suite, ok, results, impls } = material
  const ratings = ok.map((result) => material.rating(result))
  const verdict = summaryOf(RATINGS.find(({ id }) => id === suite.rating)!, ratings)
  const rows = impls.flatMap((impl) => {
    const speedups = ok.filter(({ case: c }) => implName(c) === impl).flatMap((result) => material.speedup(result) ?? [])
    return speedups.length === 0 ? [] : [[text(impl), text(String(speedups.length)), text(formatRatio(geometricMean(speedups))), text(formatRatio(Math.min(...speedups))), text(formatRatio(Math.max(...speedups)))]]
  })
  const counted = `${ok.length} of ${results.length} results passed verification and were measured.`
  return {
    title: 'Summary',
    text: verdict ? `${counted} ${verdict[0]!.toUpperCase()}${verdict.slice(1)}.` : `${counted} No rating: ${ratings.find((rating) => !rating.ok)?.reason ?? 'there are no results.'}`,
    ...(rows.length > 0 ? { table: { heads: [{ title: 'implementation', mono: true }, { title: 'cases', numeric: true }, { title: `speedup over ${suite.against} (geometric mean)`, numeric: true }, { title: 'lowest', numeric: true }, { title: 'highest', numeric: true }], rows } } : {}),
  }
}

/** Mean and deviation of each implementation, and its speedup over the library. */
function timesPart(material: Material): SuitePart | undefined {
  const { impls, suite } = material
  const rows = material.byWork().map((group) => [
    text(words(group[0]!.case)), text(group[0]!.case.dtype), text(group[0]!.case.mode),
    ...impls.map((impl): SuiteCell => {
      const result = group.find(({ case: c }) => implName(c) === impl)
      if (!result) return text(ABSENT)
      const speedup = material.speedup(result)
      const rating = material.rating(result)
      return { text: `${meanText(result)}${speedup === undefined ? '' : `, ${formatRatio(speedup)}`}${rating.ok ? `, ${rating.text}` : ''}`, value: result.summary.medianNs, result: result.id }
    }),
  ])
  if (rows.length === 0) return undefined
  return { title: 'Times', text: `Mean ± standard deviation, speedup over ${suite.against}, rating.`, table: { heads: [{ title: 'operation', mono: true }, { title: 'dtype' }, { title: 'mode' }, ...impls.map((title) => ({ title, numeric: true }))], rows } }
}

/** The fastest implementation of each operation and size, and its distance to the next. */
function fastestPart(material: Material): SuitePart | undefined {
  const rows = material.byWork().filter((group) => group.length > 1).map((group) => {
    const [first, second] = [...group].sort((a, b) => a.summary.medianNs - b.summary.medianNs) as [Measured, Measured]
    return [text(words(first.case)), { text: implName(first.case), result: first.id }, text(formatTime(first.summary.medianNs)), { text: implName(second.case), result: second.id }, text(formatRatio(second.summary.medianNs / first.summary.medianNs))]
  })
  return rows.length === 0 ? undefined : { title: 'Fastest implementation', table: { heads: [{ title: 'operation', mono: true }, { title: 'fastest' }, { title: 'median', numeric: true }, { title: 'next' }, { title: 'faster by', numeric: true }], rows } }
}

/** Where each implementation starts to beat the first one measured (the scalar level), along size. */
function crossoversPart({ ok, impls }: Material): SuitePart | undefined {
  const [base, ...others] = impls
  const timings = (op: string, impl: string) => ok.flatMap(({ case: c, summary }) => {
    const size = sizeOf(c)
    return c.op === op && implName(c) === impl && size !== undefined ? [{ size, ...summary }] : []
  })
  const rows = [...new Set(ok.map(({ case: c }) => c.op))].flatMap((op) => {
    const cells = others.map((impl) => {
      const [a, b] = [timings(op, base!), timings(op, impl)]
      if (a.length === 0 || b.length === 0) return ABSENT
      const [first] = crossovers(a, b)
      if (first) return crossoverSentence(first, base!, impl, formatSize)
      const one = b.find(({ size }) => size === a[0]!.size)
      return one === undefined ? ABSENT : one.medianNs < a[0]!.medianNs ? 'faster at every size' : 'slower at every size'
    })
    return cells.every((cell) => cell === ABSENT) ? [] : [[text(op), ...cells.map(text)]]
  })
  return rows.length === 0 || others.length === 0 ? undefined : { title: 'Crossovers', text: `Where each implementation changes places with ${base}.`, table: { heads: [{ title: 'operation', mono: true }, ...others.map((title) => ({ title, wide: true }))], rows } }
}

/** Size classes of the performance guide, in elements. */
const CLASSES: readonly (readonly [title: string, most: number])[] = [['small', 2 ** 20], ['medium', 2 ** 23], ['large', 2 ** 25], ['xlarge', Infinity]]

/** Mean, best and worst share of the measured bandwidth, by size class and implementation. */
function classesPart(material: Material): SuitePart | undefined {
  const shares = material.ok.flatMap((result) => {
    const share = material.bandwidthShare(result)
    const size = sizeOf(result.case)
    const family = findOp(result.case.op)?.family
    return share === undefined || size === undefined || !['memory', 'binary', 'unary', 'activation'].includes(family ?? '') ? [] : [{ impl: implName(result.case), share, className: CLASSES.find(([, most]) => size <= most)![0] }]
  })
  const rows = material.impls.flatMap((impl) => CLASSES.flatMap(([className]) => {
    const found = shares.filter((one) => one.impl === impl && one.className === className).map(({ share }) => share)
    return found.length === 0 ? [] : [[text(impl), text(className), text(formatPercent(found.reduce((a, b) => a + b, 0) / found.length)), text(formatPercent(Math.max(...found))), text(formatPercent(Math.min(...found)))]]
  }))
  return rows.length === 0
    ? { title: 'Bandwidth by size class', text: 'Unavailable: measure the ceilings of this device first (Devices, or opscope ceilings).' }
    : { title: 'Bandwidth by size class', text: 'Share of the measured memory bandwidth, element-wise operations.', table: { heads: [{ title: 'implementation', mono: true }, { title: 'class' }, { title: 'mean', numeric: true }, { title: 'best', numeric: true }, { title: 'worst', numeric: true }], rows } }
}

/** Reductions by axis: speedup over the library, geometric mean over operations and sizes. */
function axesPart(material: Material): SuitePart | undefined {
  const groups = new Map<string, number[]>()
  for (const result of material.ok) {
    const axis = result.case.params['axis'] ?? result.case.params['broadcast']
    const speedup = material.speedup(result)
    if (typeof axis !== 'string' || speedup === undefined) continue
    const key = `${implName(result.case)}|${result.case.params['axis'] === undefined ? `sum_to_shape ${axis}` : axis}`
    groups.set(key, [...(groups.get(key) ?? []), speedup])
  }
  const rows = [...groups].map(([key, speedups]) => [...key.split('|').map(text), text(formatRatio(geometricMean(speedups))), text(formatRatio(Math.min(...speedups)))])
  return rows.length === 0 ? undefined : { title: 'Reductions by axis', text: `Speedup over ${material.suite.against}.`, table: { heads: [{ title: 'implementation', mono: true }, { title: 'axis' }, { title: 'geometric mean', numeric: true }, { title: 'lowest', numeric: true }], rows } }
}

/** How many results each limit binds, and how near they come to it. */
function boundsPart(material: Material): SuitePart | undefined {
  const rows = (['memory', 'compute', 'latency'] as const).flatMap((bound) => {
    const found = material.ok.flatMap((result) => {
      const point = material.point(result)
      return point?.bound === bound ? [point.efficiency ?? 0] : []
    })
    return found.length === 0 ? [] : [[text(`${bound} bound`), text(String(found.length)), text(formatPercent(found.reduce((a, b) => a + b, 0) / found.length))]]
  })
  return rows.length === 0
    ? { title: 'What binds', text: 'Unavailable: measure the ceilings of this device first (Devices, or opscope ceilings).' }
    : { title: 'What binds', table: { heads: [{ title: 'class' }, { title: 'results', numeric: true }, { title: 'mean efficiency', numeric: true }], rows } }
}

/** Red flags: failures, failed verification, high variation, low grades. */
function flagsPart({ results }: Material): SuitePart {
  const rows = results.flatMap((result): SuiteCell[][] => {
    const row = (what: string) => [[{ text: `${words(result.case)} ${result.case.dtype} ${implName(result.case)}`, result: result.id }, text(what)]]
    if (result.status !== 'ok') return row(`${statusWord(result.status)}${result.message ? `: ${result.message}` : ''}`)
    const { meanNs, stddevNs } = result.summary ?? {}
    if (meanNs && stddevNs && stddevNs / meanNs > HIGH_VARIATION) return row(`high variation: ${formatTime(meanNs)} ± ${formatTime(stddevNs)}`)
    return result.grade === 'C' ? row(`grade C: ${result.gradeReasons?.[0] ?? 'see the details of the result'}`) : []
  })
  return rows.length === 0 ? { title: 'Red flags', text: 'None: no failure, no failed verification, no high variation.' } : { title: 'Red flags', table: { heads: [{ title: 'result', mono: true }, { title: 'what', wide: true }], rows } }
}

/** Our figures beside those that the suite's own users publish. */
function publishedPart(material: Material): SuitePart | undefined {
  const { suite, ok } = material
  const rows = suite.published.map(({ what, theirs, find }) => {
    const ours = ok.filter(({ case: c }) => c.op === find.op && c.dtype === 'f32' && Object.entries(find.params).every(([name, value]) => c.params[name] === value) && (c.mode === 'hot' || !ok.some((other) => workOf({ ...other.case, mode: 'hot' }) === workOf({ ...c, mode: 'hot' }) && other.case.mode === 'hot')))
    return [text(what), text(theirs), text(ours.map((result) => `${implName(result.case)} ${formatTime(result.summary.medianNs)}`).join(', ') || ABSENT)]
  })
  return rows.length === 0 ? undefined : { title: 'Published figures', text: `Theirs${suite.publishedOn ? ` (${suite.publishedOn})` : ''} beside the medians of this session.`, table: { heads: [{ title: 'case' }, { title: 'theirs', wide: true }, { title: 'here', wide: true }], rows } }
}

const PARTS: Readonly<Record<SuiteSection, (material: Material) => SuitePart | undefined>> = {
  summary: summaryPart, times: timesPart, fastest: fastestPart, crossovers: crossoversPart, classes: classesPart, axes: axesPart, bounds: boundsPart, flags: flagsPart,
}

/** The suite's own tables and verdicts over the results of a session. `ceilings` are those of the machine that measured it. */
export function suiteReport(suite: Suite, results: readonly Result[], ceilings: readonly Ceiling[]): SuitePart[] {
  const material = new Material(suite, results, ceilings)
  return [...suite.sections.map((section) => PARTS[section](material)), publishedPart(material)].filter((part) => part !== undefined)
}
