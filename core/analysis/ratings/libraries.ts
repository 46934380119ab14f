import type { BenchmarkCase } from '../../case'
import { hardwareOf, processorOf } from '../../session/environment'
import { workOf } from '../size'
import { fastestFirst, speedupOf, type Timing } from '../timing'

/** Libraries that suites measure themselves against. */
export type Library = 'PyTorch' | 'NumPy'

/** The library behind an implementation's name, as backends and imported files have it: `pytorch`, `PyTorch`, `torch-compile`, `numpy`. */
export function libraryOf({ impl }: Pick<BenchmarkCase, 'impl'>): Library | undefined {
  if (/^(py)?torch/i.test(impl)) return 'PyTorch'
  return /^numpy/i.test(impl) ? 'NumPy' : undefined
}

/** PyTorch that compiles nothing: what people mean by PyTorch. */
export const isEagerTorch = ({ impl }: Pick<BenchmarkCase, 'impl'>): boolean => libraryOf({ impl }) === 'PyTorch' && !/compile/i.test(impl)

/** Hardware a library's time may come from, best first: the very device, else one of its kind. */
const placesOf = (device: string) => [hardwareOf(device), `any ${processorOf(device)}`]

/**
 * The fastest time of each library for each piece of work of a session: of PyTorch eager where it was measured, else
 * compiled. On the hardware of the case, whatever backend computes there; else on the same kind of processor (WebGPU and
 * CUDA are one GPU under two names).
 */
export class LibraryTimes {
  readonly #fastest = new Map<string, number>()
  /** Results of libraries by the interleaved rounds that they were measured in. */
  readonly #inRounds = new Map<number, LibraryResult[]>()

  /** Takes a right result into account; those of no library are passed over. */
  add(c: BenchmarkCase, timing: Timing): void {
    const library = libraryOf(c)
    const { medianNs, rounds = [] } = timing
    if (library === undefined || !(medianNs > 0)) return
    for (const { group } of rounds) this.#inRounds.set(group, [...(this.#inRounds.get(group) ?? []), { ...timing, case: c }])
    const name = library === 'PyTorch' && !isEagerTorch(c) ? 'compiled' : library
    for (const place of placesOf(c.device)) {
      const key = `${name}|${workOf(c)}|${place}`
      this.#fastest.set(key, Math.min(medianNs, this.#fastest.get(key) ?? Infinity))
    }
  }

  /**
   * ns per call, to be held against the median of the result. Where both were measured in the same interleaved rounds it is that median
   * times the speedup of the rounds, so that its ratio to the median is the speedup that answer, charts and Compare give.
   */
  fastestNs(c: BenchmarkCase, timing: Timing, library: Library): number | undefined {
    return this.#pairedNs(timing, library) ?? this.#medianNs(c, library)
  }

  #pairedNs(timing: Timing, library: Library): number | undefined {
    const own = (timing.rounds?.[0] ? this.#inRounds.get(timing.rounds[0].group) ?? [] : []).filter((result) => libraryOf(result.case) === library)
    const eager = own.filter((result) => isEagerTorch(result.case))
    const [rival] = fastestFirst(eager.length > 0 ? eager : own)
    const ratio = rival && speedupOf(timing, rival)?.ratio
    return ratio === undefined ? undefined : ratio * timing.medianNs
  }

  #medianNs(c: BenchmarkCase, library: Library): number | undefined {
    if (this.#fastest.size === 0) return undefined
    const names = library === 'PyTorch' ? ['PyTorch', 'compiled'] : [library]
    for (const place of placesOf(c.device)) {
      for (const name of names) {
        const ns = this.#fastest.get(`${name}|${workOf(c)}|${place}`)
        if (ns !== undefined) return ns
      }
    }
    return undefined
  }
}

type LibraryResult = Timing & { case: BenchmarkCase }
