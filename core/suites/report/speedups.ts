import { crossovers } from '../../analysis/crossover'
import { RATINGS, summaryOf, type Rating } from '../../analysis/ratings'
import { libraryOf } from '../../analysis/ratings/libraries'
import { sizeOf, workOf } from '../../analysis/size'
import { fastestFirst, speedupOf, verdictBetween } from '../../analysis/timing'
import { geometricMean } from '../../stats/descriptive'
import { ABSENT, formatCount, formatRatio, formatSpread, formatTime } from '../../units'
import type { PublishedFigure } from '../types'
import { peakMemory } from './costs'
import { about, dashText, doubtOf, highest, implName, lowest, NOT_MEASURED, text, timesWriter, words, type Material, type Measured, type RatedResult, type SuiteCell, type SuitePart } from './material'

/** Of a suite that measures every SIMD level, each operation is judged by its fastest one, as its users would dispatch it. */
function judgedResults(material: Material): Measured[] {
  const judged = material.judged()
  if (material.suite.impls !== 'all') return judged
  const fastest = new Map<string, Measured>()
  for (const result of judged) {
    const held = fastest.get(workOf(result.case))
    if (!held || fastestFirst([held, result])[0] === result) fastest.set(workOf(result.case), result)
  }
  return [...fastest.values()]
}

/** The suite's verdict, and how many times as fast as its library each implementation is over all of its work. */
export function summaryPart(material: Material): SuitePart {
  const { suite, ok, results, impls } = material
  const judged = judgedResults(material)
  const ratings = judged.map((result) => material.rating(result))
  const verdict = summaryOf(RATINGS.find(({ id }) => id === suite.rating)!, ratings)
  const rows = impls.flatMap((impl) => {
    const own = ok.filter(({ case: c }) => implName(c) === impl).flatMap((result): RatedResult[] => {
      const value = material.speedup(result)
      return value === undefined ? [] : [{ value, result: result.id }]
    })
    return own.length === 0 ? [] : [[text(impl), text(String(own.length)), text(formatRatio(geometricMean(own.map(({ value }) => value)))), lowest(own, formatRatio), highest(own, formatRatio)]]
  })
  const counted = `${ok.length} of ${results.length} results passed verification and were measured.`
  const by = suite.impls === 'all' ? 'By the fastest implementation of each operation and size: ' : ''
  return {
    title: 'Summary',
    text: verdict ? `${counted} ${by}${by === '' ? verdict[0]!.toUpperCase() : verdict[0]!}${verdict.slice(1)}.${notRated(material, judged, ratings)}` : `${counted} No rating: ${ratings.find((rating) => !rating.ok)?.reason ?? 'there are no results.'}`,
    ...(rows.length > 0 ? { table: { heads: [{ title: 'implementation', mono: true }, { title: 'cases', numeric: true }, { title: `speedup over ${suite.against} (geometric mean)`, numeric: true }, { title: 'lowest', numeric: true }, { title: 'highest', numeric: true }], rows } } : {}),
  }
}

/** The results that the verdict leaves out, with the reason; empty where it is of all. */
function notRated(material: Material, judged: readonly Measured[], ratings: readonly Rating[]): string {
  const others = material.judged().length - judged.length
  const libraries = new Map<string, number>()
  for (const { case: c } of material.ok) {
    const library = libraryOf(c)
    if (library !== undefined) libraries.set(library, (libraries.get(library) ?? 0) + 1)
  }
  const reasons = new Map<string, number>()
  for (const rating of ratings) if (!rating.ok) reasons.set(rating.reason, (reasons.get(rating.reason) ?? 0) + 1)
  const left = [...(others > 0 ? [`${others} by slower implementations`] : []), ...[...libraries].map(([library, count]) => `${count} of ${library} itself`)]
  return [...(left.length > 0 ? [` Not rated: ${left.join(', ')}.`] : []), ...[...reasons].map(([reason, count]) => ` Not rated: ${count} ${count === 1 ? 'result' : 'results'}. ${reason}`)].join('')
}

/** Mean and deviation of each implementation, and its speedup over the library. */
export function timesPart(material: Material): SuitePart | undefined {
  const { impls, suite } = material
  const shown = { extremes: false, speedup: false, rating: false }
  const rows = material.byWork().map((group) => {
    const { unit, number, time } = timesWriter(group.map(({ medianNs }) => medianNs))
    return [
      text(words(group[0]!.case)), text(group[0]!.case.dtype), text(group[0]!.case.mode),
      ...impls.map((impl): SuiteCell => {
        const result = group.find(({ case: c }) => implName(c) === impl)
        if (!result) return material.without(group[0]!.case, impl)
        const { medianNs, meanNs = medianNs, stddevNs, minNs, maxNs } = result
        const speedup = material.speedup(result)
        const rating = material.rating(result)
        const extremes = suite.extremes && minNs !== undefined && maxNs !== undefined ? `${number(minNs)} to ${time(maxNs)}` : undefined
        const doubt = doubtOf(result)
        shown.extremes ||= extremes !== undefined
        shown.speedup ||= speedup !== undefined
        shown.rating ||= rating.ok
        const note = [extremes ?? [], speedup === undefined ? [] : formatRatio(speedup), rating.ok ? rating.text : [], doubt ?? []].flat().join(', ')
        return { text: stddevNs === undefined ? time(meanNs) : `${formatSpread(meanNs, stddevNs, unit)} ${unit.name}`, ...(note === '' ? {} : { note }), result: result.id, ...(doubt === undefined ? {} : { doubt }) }
      }),
    ]
  })
  if (rows.length === 0) return undefined
  const said = ['Mean ± standard deviation', ...(shown.extremes ? ['fastest to slowest sample'] : []), ...(shown.speedup ? [`speedup over ${suite.against}`] : []), ...(shown.rating ? ['rating'] : [])].join(', ')
  return { title: 'Times', text: `${said}.${dashText(rows, NOT_MEASURED)}`, table: { heads: [{ title: 'operation', mono: true }, { title: 'dtype' }, { title: 'mode' }, ...impls.map((title) => ({ title, numeric: true }))], rows } }
}

const UNCLEAR = 'unclear'

/** The fastest implementation of each operation and size, and its distance to the next. */
export function fastestPart(material: Material): SuitePart | undefined {
  const rows = material.byWork().filter((group) => group.length > 1).map((group) => {
    const [first, second] = fastestFirst(group) as [Measured, Measured]
    const [one, next] = [about(first), about(second)]
    return [text(words(first.case)), one(implName(first.case)), one(formatTime(first.medianNs)), one(peakMemory(first)), next(implName(second.case)), { ...next(formatRatio(speedupOf(first, second)?.ratio)), ...(verdictBetween(first, second) === 'ambiguous' ? { note: UNCLEAR } : {}) }]
  })
  return rows.length === 0 ? undefined : { title: 'Fastest implementation', table: { heads: [{ title: 'operation', mono: true }, { title: 'fastest' }, { title: 'median', numeric: true }, { title: 'memory', numeric: true }, { title: 'next' }, { title: 'faster by', numeric: true }], rows } }
}

/** An interpolated number of elements to three digits, in the letters of the suite's own sizes: `1310`, `250K`. */
const elements = (n: number): string => (n < 100_000 ? String(Number(n.toPrecision(3))) : formatCount(n))

/** Where each implementation starts to beat the first one measured (the scalar level), along size, with clear verdicts on both sides. */
export function crossoversPart({ ok, impls }: Material): SuitePart | undefined {
  const [base, ...others] = impls
  const timings = (op: string, impl: string) => ok.flatMap((result) => {
    const size = sizeOf(result.case)
    return result.case.op === op && implName(result.case) === impl && size !== undefined ? [{ ...result, size }] : []
  })
  const rows = [...new Set(ok.map(({ case: c }) => c.op))].flatMap((op) => {
    const cells = others.map((impl): SuiteCell => {
      const [a, b] = [timings(op, base!), timings(op, impl)]
      if (a.length === 0 || b.length === 0) return text(ABSENT)
      const { found: [first], unclear } = crossovers(a, b)
      // The first size beyond the crossing is the result that shows it.
      if (first) return { text: `${first.winner === 'b' ? 'faster' : 'slower'} from ${elements(first.size)} elements`, note: `95 % CI ${elements(first.low)} to ${elements(first.high)}`, result: (b.find(({ size }) => size >= first.size) ?? b.at(-1)!).id }
      const one = b.find(({ size }) => size === a[0]!.size)
      return one === undefined ? text(ABSENT) : { text: unclear ? UNCLEAR : one.medianNs < a[0]!.medianNs ? 'faster at every size' : 'slower at every size', result: one.id }
    })
    return cells.every((cell) => cell.text === ABSENT) ? [] : [[text(op), ...cells]]
  })
  return rows.length === 0 || others.length === 0 ? undefined : { title: 'Crossovers', text: `Size from which each implementation is faster or slower than ${base}, with the 95 % CI of that size${rows.flat().some((cell) => cell.text === UNCLEAR) ? `; ${UNCLEAR}: the medians change order, but not beyond the significance threshold` : ''}.${dashText(rows, NOT_MEASURED)}`, table: { heads: [{ title: 'operation', mono: true }, ...others.map((title) => ({ title, wide: true }))], rows } }
}

/** Whether a result answers a published figure: of the hot mode, where the work was measured in it. */
const answers = ({ op, params }: PublishedFigure['find'], { case: c }: Measured, modes: ReadonlyMap<string, ReadonlySet<string>>): boolean =>
  c.op === op && c.dtype === 'f32' && Object.entries(params).every(([name, value]) => c.params[name] === value) && (c.mode === 'hot' || !modes.get(workOf({ ...c, mode: 'hot' }))?.has('hot'))

/** The session's medians beside the times that the suite's own users publish: one column for each implementation, one unit in a row. */
export function publishedPart({ suite, ok, impls }: Material): SuitePart | undefined {
  const modes = new Map<string, Set<string>>()
  for (const { case: c } of ok) {
    const work = workOf({ ...c, mode: 'hot' })
    modes.set(work, (modes.get(work) ?? new Set()).add(c.mode))
  }
  const names = [...new Set(suite.published.flatMap(({ times }) => Object.keys(times ?? {})))]
  const rows = suite.published.map(({ what, times = {}, claim, find }) => {
    const ours = ok.filter((result) => answers(find, result, modes))
    const { time } = timesWriter([...Object.values(times), ...ours.map(({ medianNs }) => medianNs)])
    return [
      { text: what, ...(claim === undefined ? {} : { note: `published: ${claim}` }) },
      ...names.map((name) => {
        const ns = times[name]
        return text(ns === undefined ? ABSENT : time(ns))
      }),
      ...impls.map((impl): SuiteCell => {
        const result = ours.find(({ case: c }) => implName(c) === impl)
        return result ? { text: time(result.medianNs), result: result.id } : text(ABSENT)
      }),
    ]
  })
  const heads = [{ title: 'case', mono: true }, ...names.map((name) => ({ title: `${name} (published)`, numeric: true })), ...impls.map((title) => ({ title, numeric: true, mono: true }))]
  return rows.length === 0 ? undefined : { title: 'Published figures', text: `Published times (${suite.publishedOn ?? 'on another machine'}) beside the medians of this session, in f32.${dashText(rows, 'not published, or not measured in this session')}`, table: { heads, rows } }
}
