import type { BenchmarkCase } from '../../case'
import { findOp } from '../../ops/registry'
import { formatPercent, localNumber } from '../../units'
import { sizeOf } from '../size'
import { type Library, libraryOf } from './libraries'

/** A right result as a suite's rating looks at it. */
export interface RatingSubject {
  case: BenchmarkCase
  /** ns per call */
  medianNs: number
  /** Share of the binding measured ceiling of its device; undefined where that is not known. */
  efficiency: number | undefined
  /** Minimum memory traffic per second as a share of the measured copy bandwidth of its device. */
  bandwidthShare: number | undefined
  /** Fastest time in ns of a library for the same work on the same device in the session, to be held against `medianNs` (LibraryTimes); undefined where it has none. */
  fastestNs(library: Library): number | undefined
}

/** `score` orders ratings, the better the higher. Without a rating, the reason in one sentence. */
export type Rating = { ok: true; text: string; score: number } | { ok: false; reason: string }

/** How one of the suites that people come from judges a result. */
export interface RatingScale {
  /** As the file is called. */
  id: string
  /** Of a column. */
  title: string
  /** What is judged by what, for the header's hover. */
  about: string
  rate(subject: RatingSubject): Rating
  /** A whole session's ratings in a sentence; absent: how many have each word. Never asked without ratings. */
  summarize?(ratings: readonly Extract<Rating, { ok: true }>[]): string
}

/** Rating nothing, because the library to compare with was not measured. */
export const missing = (library: Library): Rating => ({ ok: false, reason: `The session has no valid result of ${library} for the same work, mode and device. Measure it too (Python among the backends), or import one and merge the sessions.` })

export const NO_CEILINGS: Rating = { ok: false, reason: 'No ceilings are known for the device of this result. Measure them on its machine in Devices.' }

/** Whether the result is the library's own. */
export const selfRated = (subject: RatingSubject, library: Library): boolean => libraryOf(subject.case) === library

/** gpu_efficiency of the comprehensive CUDA/Triton suite, 0 to 100; here from measured ceilings, where the suite only estimates. */
const comprehensive: RatingScale = {
  id: 'comprehensive',
  title: 'GPU efficiency',
  about: 'Share of the binding measured ceiling from 0 to 100, on GPUs: what the CUDA/Triton suite calls gpu_efficiency',
  rate({ case: c, efficiency }) {
    if (c.device === 'cpu') return { ok: false, reason: 'This ran on the processor; the figure is of GPUs.' }
    if (efficiency === undefined) return NO_CEILINGS
    const score = Math.min(100, efficiency * 100)
    return { ok: true, text: localNumber(score.toFixed(score < 10 ? 1 : 0)), score }
  },
  summarize: (ratings) => `mean ${(ratings.reduce((sum, { score }) => sum + score, 0) / ratings.length).toFixed(0)} of 100 over ${ratings.length}`,
}

/** Least speedup over PyTorch of each word, best first. */
const LEVELS = [[0.8, 'excellent'], [0.5, 'good'], [0.2, 'fair']] as const

/** Genesis rates the speedup over PyTorch on the same work. */
const genesis: RatingScale = {
  id: 'genesis',
  title: 'Genesis rating',
  about: 'Speedup over PyTorch in this session: excellent from 0.8, good from 0.5, fair from 0.2, else needs work',
  rate(subject) {
    if (selfRated(subject, 'PyTorch')) return { ok: false, reason: 'This is PyTorch, which others are rated against.' }
    const pytorchNs = subject.fastestNs('PyTorch')
    if (pytorchNs === undefined) return missing('PyTorch')
    const score = pytorchNs / subject.medianNs
    return { ok: true, text: LEVELS.find(([least]) => score >= least)?.[1] ?? 'needs work', score }
  },
}

/** A class of sizes in the performance guide. */
export interface SizeClass {
  name: string
  /** Shares of the bandwidth. */
  minimum: number
  target: number
}

/**
 * The guide measures at 64K to 262K elements (small), 4.2M, 16.8M and 67M; the classes meet half way between on a
 * logarithmic scale.
 */
const SIZE_CLASSES: readonly (SizeClass & { most: number })[] = [
  { name: 'small', most: 2 ** 20, minimum: 0.15, target: 0.25 },
  { name: 'medium', most: 2 ** 23, minimum: 0.25, target: 0.4 },
  { name: 'large', most: 2 ** 25, minimum: 0.1, target: 0.3 },
  { name: 'xlarge', most: Infinity, minimum: 0.1, target: 0.25 },
]
const BATCH: SizeClass = { name: 'batch', minimum: 0.25, target: 0.45 }
/** A batch of 32 x 1024 tokens of 768 elements: element-wise operations have no batch among their parameters, so this size stands for it. */
export const BATCH_ELEMENTS = 32 * 1024 * 768

const ELEMENT_WISE: readonly string[] = ['memory', 'binary', 'unary', 'activation']

const isBatch = ({ params }: BenchmarkCase, elements: number) => elements === BATCH_ELEMENTS || ['batch', 'batch_size'].some((name) => typeof params[name] === 'number' && params[name] > 1)

/** The guide's class of an element-wise case; undefined for other operations and unknown sizes. */
export function sizeClassOf(c: BenchmarkCase): SizeClass | undefined {
  const elements = sizeOf(c)
  if (elements === undefined || !ELEMENT_WISE.includes(findOp(c.op)?.family ?? '')) return undefined
  return isBatch(c, elements) ? BATCH : SIZE_CLASSES.find(({ most }) => elements <= most)!
}

/** The classes in their order. */
export const SIZE_CLASS_NAMES: readonly string[] = [...SIZE_CLASSES, BATCH].map(({ name }) => name)

/** Whether a share of the bandwidth meets the target or the minimum of its class. */
export const targetWord = (share: number, { minimum, target }: Pick<SizeClass, 'minimum' | 'target'>): string => (share >= target ? 'target met' : share >= minimum ? 'minimum met' : 'below minimum')

/** The guide's targets of bandwidth per size class, here against the measured copy bandwidth, which is below the theoretical one it takes. */
const performanceGuide: RatingScale = {
  id: 'performance-guide',
  title: 'Guide target',
  about: 'Share of the measured copy bandwidth against the minimum and target of the size class: small 15/25 %, medium 25/40 %, large 10/30 %, xlarge 10/25 %, batch 25/45 %',
  rate({ case: c, bandwidthShare }) {
    const own = sizeClassOf(c)
    if (!own) return { ok: false, reason: 'The guide has targets for element-wise operations of known sizes only.' }
    if (bandwidthShare === undefined) return NO_CEILINGS
    return { ok: true, text: `${targetWord(bandwidthShare, own)} (${Math.round(100 * (bandwidthShare >= own.target ? own.target : own.minimum))} %, ${own.name} sizes)`, score: bandwidthShare / own.target }
  },
  summarize(ratings) {
    const having = (word: string) => ratings.filter(({ text }) => text.startsWith(word)).length
    const [minimum, below] = [having('minimum met'), having('below')]
    return `${having('target met')} of ${ratings.length} element-wise results met the bandwidth target of their size class${minimum ? `, ${minimum} met only the minimum` : ''}${below ? `, ${below} stayed below the minimum` : ''}`
  },
}

/** At most so many times the time of PyTorch, and at least such a share of the bandwidth. */
const TENFLOWERS_MAX_FACTOR = 2
const MIN_BANDWIDTH = 0.9

/** What is below the bandwidth, with no time of PyTorch that could still meet the other target. */
const BANDWIDTH_ALONE = `below ${MIN_BANDWIDTH * 100} % of bandwidth, no PyTorch`

/** The two targets of the TenfloweRS tools: within 2x of PyTorch, 90 % of the bandwidth (here the measured one). What is not known is not judged. */
const tenflowers: RatingScale = {
  id: 'tenflowers',
  title: 'TenfloweRS target',
  about: 'Within twice the time of PyTorch in this session, or 90 % of the measured copy bandwidth of the device',
  rate(subject) {
    if (selfRated(subject, 'PyTorch')) return { ok: false, reason: 'This is PyTorch, which others are rated against.' }
    const pytorchNs = subject.fastestNs('PyTorch')
    const times = pytorchNs === undefined ? undefined : subject.medianNs / pytorchNs
    const bandwidth = (subject.bandwidthShare ?? 0) >= MIN_BANDWIDTH
    if (times === undefined && !bandwidth) return subject.bandwidthShare === undefined ? missing('PyTorch') : { ok: true, text: BANDWIDTH_ALONE, score: 0 }
    const near = times !== undefined && times <= TENFLOWERS_MAX_FACTOR
    const met = [...(near ? [`within ${TENFLOWERS_MAX_FACTOR}x`] : []), ...(bandwidth ? [`${MIN_BANDWIDTH * 100} % of bandwidth`] : [])]
    return { ok: true, text: met.join(', ') || 'missed', score: met.length }
  },
  summarize(ratings) {
    const open = ratings.filter(({ text }) => text === BANDWIDTH_ALONE).length
    const met = `${ratings.filter(({ score }) => score > 0).length} of ${ratings.length} met a target: within ${TENFLOWERS_MAX_FACTOR}x of PyTorch, or ${MIN_BANDWIDTH * 100} % of the bandwidth`
    return open === 0 ? met : `${met}; ${open} are below that bandwidth and have no time of PyTorch beside them`
  },
}

/** Slower by at most this counts as within 20 %. */
const TRUENO_MAX_FACTOR = 1.2

/** Share of a suite that must be within it. */
const MIN_SHARE = 0.8

/** Trueno's success rule for an operation: within 20 % of NumPy. (For the suite: at least 80 % of the operations.) */
const trueno: RatingScale = {
  id: 'trueno',
  title: 'Trueno rule',
  about: 'Time against NumPy in this session: faster, within 20 %, or slower than that',
  rate(subject) {
    if (selfRated(subject, 'NumPy')) return { ok: false, reason: 'This is NumPy, which others are rated against.' }
    const numpyNs = subject.fastestNs('NumPy')
    if (numpyNs === undefined) return missing('NumPy')
    const times = subject.medianNs / numpyNs
    return { ok: true, text: times < 1 ? 'faster' : times <= TRUENO_MAX_FACTOR ? 'within 20 %' : 'slower', score: 1 / times }
  },
  summarize(ratings) {
    const near = ratings.filter(({ text }) => text !== 'slower').length
    return `${near} of ${ratings.length} (${formatPercent(near / ratings.length)}) faster than NumPy or at most 20 % slower: success rule (at least ${MIN_SHARE * 100} %) ${near >= MIN_SHARE * ratings.length ? 'met' : 'not met'}`
  },
}

/** The scales of the published suites. */
export const SCALES: readonly RatingScale[] = [comprehensive, genesis, performanceGuide, tenflowers, trueno]
