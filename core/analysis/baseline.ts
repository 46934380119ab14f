import type { BenchmarkCase } from '../case'
import { isLibrary, seriesKey } from '../backends'
import { hardwareOf, processorOf } from '../session/environment'
import type { SharedWork } from './opening'
import { isEagerTorch, libraryOf } from './ratings/libraries'
import { workOf } from './size'

/** A result that may be a baseline. `index` is the caller's name for it. */
export interface BaseResult {
  case: BenchmarkCase
  index: number
  ok: boolean
  /** Repeat of the sweep. */
  run?: number | undefined
}

export type BaseMatch = { ok: true; index: number } | { ok: false; reason: string }

/**
 * The results of one implementation (a series key such as `python/torch`), to be found by the work that others did. Of
 * a case that was repeated, the same repeat is found, whose interleaved rounds are those of the result asked for; else the last.
 */
export class Baseline {
  readonly #byWork = new Map<string, BaseResult[]>()
  readonly #kinds = new Set<string>()
  #library = false

  constructor(readonly key: string) {}

  add(result: BaseResult): void {
    if (seriesKey(result.case) !== this.key) return
    this.#kinds.add(processorOf(result.case.device))
    this.#library ||= libraryOf(result.case) !== undefined
    const work = workOf(result.case)
    const all = this.#byWork.get(work)
    if (all) all.push(result)
    else this.#byWork.set(work, [result])
  }

  /**
   * The baseline's result for the work of a case: on the same hardware, else on the same kind of processor. A baseline that
   * exists on one kind alone is met across kinds too, but not a library: its figure on the other kind would be another one.
   * Of thread counts the case's own, else the largest.
   */
  of(c: BenchmarkCase, run?: number): BaseMatch {
    if (seriesKey(c) === this.key) return { ok: false, reason: 'This is the baseline itself.' }
    const same = this.#byWork.get(workOf(c)) ?? []
    const near = same.filter((one) => hardwareOf(one.case.device) === hardwareOf(c.device))
    const alike = near.length ? near : same.filter((one) => processorOf(one.case.device) === processorOf(c.device))
    const fitting = alike.length || this.#library || this.#kinds.size > 1 ? alike : same
    if (!fitting.length) return { ok: false, reason: same.length ? `${this.key} measured this only on another kind of processor.` : `${this.key} has not measured the same operation, shape, dtype and mode here.` }
    const threads = c.threads !== undefined && fitting.some((one) => one.case.threads === c.threads) ? c.threads : fitting.reduce<number | undefined>((most, one) => (most === undefined || (one.case.threads ?? 0) > most ? one.case.threads : most), undefined)
    const own = fitting.filter((one) => one.case.threads === threads)
    const found = (run === undefined ? undefined : own.findLast((one) => one.run === run && one.ok)) ?? own.at(-1)!
    return found.ok ? { ok: true, index: found.index } : { ok: false, reason: `${this.key} has no valid result for this work.` }
  }
}

/** What others are compared with where the user has not said and no two share a case (SharedWork in opening.ts decides where they do): PyTorch eager where it was measured, else the first preferred of these keys that was, else the first. */
export function defaultBaseline(present: readonly { backend: string; impl: string }[], preferred: readonly string[]): string | undefined {
  const torch = present.find(isEagerTorch)
  if (torch) return seriesKey(torch)
  const keys = present.map(seriesKey)
  return preferred.find((key) => keys.includes(key)) ?? keys[0]
}

type Processor = ReturnType<typeof processorOf>

/** What results are compared with where the user has not chosen: series keys, for each kind of processor and for all results; undefined where no two implementations share a case there. */
export type AutoBaselines = Readonly<Record<Processor | 'all', string | undefined>>

/** The automatic baselines of results with this work in common: those of the answer, charts, table and reports. */
export function autoBaselinesOf(shared: SharedWork): AutoBaselines {
  const keyOf = (processor?: Processor) => {
    const found = shared.mostCompared(processor)
    return found && seriesKey(found)
  }
  return { gpu: keyOf('gpu'), cpu: keyOf('cpu'), all: keyOf() }
}

/** The automatic baseline of a result on this kind of processor: that of the kind, else that of all. */
export const autoBaselineOf = (auto: AutoBaselines, processor: Processor): string | undefined => auto[processor] ?? auto.all

/** Whether each kind of processor has a baseline of its own. */
export const isSplit = ({ gpu, cpu }: AutoBaselines): boolean => gpu !== undefined && cpu !== undefined && gpu !== cpu

/** What the automatic baseline is: `PyTorch`, or `GPU PyTorch, CPU NumPy` where each kind of processor has its own; undefined where there is none. */
export function autoBaselineTitle(auto: AutoBaselines): string | undefined {
  if (isSplit(auto)) return (['gpu', 'cpu'] as const).map((processor) => `${processor.toUpperCase()} ${baselineTitle(auto[processor]!)}`).join(', ')
  const only = auto.gpu ?? auto.cpu ?? auto.all
  return only === undefined ? undefined : baselineTitle(only)
}

/** A series key as the name of a baseline: `PyTorch`, `torch.compile`, `cuda kernel`. */
export function baselineTitle(key: string): string {
  const [backend = '', impl = ''] = key.split(/\/(.*)/s)
  if (/^(py)?torch$/i.test(impl)) return 'PyTorch'
  return isLibrary(backend) ? (libraryOf({ impl }) === 'NumPy' ? 'NumPy' : impl) : `${backend} ${impl}`
}
