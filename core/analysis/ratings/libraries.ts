import { paramText, type BenchmarkCase } from '../../case'

/** Libraries that suites measure themselves against. */
export type Library = 'PyTorch' | 'NumPy'

/** The library behind an implementation's name, as backends and imported files have it: `pytorch`, `PyTorch`, `torch-compile`, `numpy`. */
export function libraryOf({ impl }: Pick<BenchmarkCase, 'impl'>): Library | undefined {
  if (/^(py)?torch/i.test(impl)) return 'PyTorch'
  return /^numpy/i.test(impl) ? 'NumPy' : undefined
}

/** Same work in the same conditions on the same device, whoever does it and with however many threads. */
const workOf = (c: BenchmarkCase) => `${c.op}|${paramText(c.params)}|${c.dtype}|${c.mode}|${c.device}`

/** The fastest time of each library for each piece of work of a session. Keys are kept per case object. */
export class LibraryTimes {
  readonly #fastest = new Map<string, number>()
  readonly #works = new WeakMap<BenchmarkCase, string>()

  /** Takes a right result into account; those of no library are passed over. */
  add(c: BenchmarkCase, medianNs: number): void {
    const library = libraryOf(c)
    if (library === undefined || !(medianNs > 0)) return
    const key = `${library}|${this.#work(c)}`
    this.#fastest.set(key, Math.min(medianNs, this.#fastest.get(key) ?? Infinity))
  }

  /** ns per call */
  fastestNs(c: BenchmarkCase, library: Library): number | undefined {
    return this.#fastest.size === 0 ? undefined : this.#fastest.get(`${library}|${this.#work(c)}`)
  }

  #work(c: BenchmarkCase): string {
    let work = this.#works.get(c)
    if (work === undefined) this.#works.set(c, (work = workOf(c)))
    return work
  }
}
