import { MAX_EXTENT } from '../ops/define'

/** A mistake in a size text: `position` and `length` mark the characters it is about. */
export class SizeError extends Error {
  override name = 'SizeError'
  constructor(
    message: string,
    readonly position: number,
    readonly length: number,
  ) {
    super(`at character ${position + 1}: ${message}`)
  }
}

/** Suffixes by lower case: K, M, G are powers of 1000, Ki, Mi, Gi of 1024. */
const SUFFIXES: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, g: 1e9, ki: 2 ** 10, mi: 2 ** 20, gi: 2 ** 30 }
const NUMBER = /(\d[\d_]*(?:\.\d+)?)(?:\^(\d+)|([kmg]i?)(?![a-wyz]))?/iy
const MOST_STEPS = 100_000
const isPowerOfTwo = (n: number) => Number.isInteger(Math.log2(n))

/** Reads the pieces of a size text from left to right; see parseSizes for the grammar. Throws SizeError. */
export class SizeReader {
  position = 0

  constructor(private readonly text: string) {}

  get atEnd(): boolean {
    return this.position >= this.text.length
  }

  /** Whether `name=` comes next. */
  get atName(): boolean {
    return /[a-z]\w*\s*=/iy.test(this.text.slice(this.position))
  }

  skipSeparators(): void {
    this.#match(/[\s,;]*/y)
  }

  skipSpaces(): void {
    this.#match(/\s*/y)
  }

  /** The name of `name=`, which is taken with its sign. */
  name(): string {
    return this.#match(/([a-z]\w*)\s*=\s*/iy)?.[1] ?? ''
  }

  /** One extent: a number, a range, or a list of those in braces; none below `min`. */
  extent(factorNeedsSpace: boolean, min = 1): number[] {
    const open = this.position
    if (!this.#match(/\{\s*/y)) return this.#range(factorNeedsSpace, min)
    const values = new Set<number>()
    while (!this.#match(/\s*\}/y)) {
      if (this.atEnd) throw new SizeError('the brace is not closed; expected }', open, this.text.length - open)
      for (const value of this.#range(false, min)) values.add(value)
      this.#match(/[\s,;]+/y)
    }
    if (values.size === 0) throw new SizeError('the braces are empty; expected numbers between them', open, this.position - open)
    return [...values]
  }

  /** True when an `x` that joins extents was here and has been taken. */
  takeJoin(): boolean {
    return this.#match(/\s*[x×]\s*(?=[\d{])/iy) !== undefined
  }

  expectEndOfItem(): void {
    if (!this.atEnd && !/[\s,;]/.test(this.text[this.position]!)) throw new SizeError(`expected a comma, a space or the end, found "${this.#word()}"`, this.position, this.#word().length)
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.position
    const found = pattern.exec(this.text)
    if (!found) return undefined
    this.position = pattern.lastIndex
    return found
  }

  #word(): string {
    return /[^\s,;]+/y.exec(this.text.slice(this.position))?.[0].slice(0, 20) ?? ''
  }

  #number(expected: string, min = 1): number {
    const start = this.position
    const found = this.#match(NUMBER)
    if (!found) throw new SizeError(`expected ${expected}, found ${this.atEnd ? 'the end' : `"${this.#word() || this.text[start]!}"`}`, start, Math.max(1, this.#word().length))
    const [written, digits, power, suffix] = found
    const base = Number(digits!.replaceAll('_', ''))
    const value = power !== undefined ? base ** Number(power) : base * (suffix === undefined ? 1 : SUFFIXES[suffix.toLowerCase()]!)
    // 65.5K is 65500, yet 65.5 * 1000 may miss it by a rounding.
    const whole = Math.round(value)
    if (!(Math.abs(value - whole) <= 1e-9 * value) || whole < min || whole > MAX_EXTENT) throw new SizeError(`expected a whole number from ${min} to ${MAX_EXTENT}, found ${written}`, start, written.length)
    return whole
  }

  #range(factorNeedsSpace: boolean, min: number): number[] {
    const start = this.position
    const first = this.#number('a size such as 4096, 64Ki or 2^12', min)
    if (!this.#match(/\s*(?:\.\.|…)\s*/y)) return [first]
    const last = this.#number('the end of the range')
    if (last < first) throw new SizeError(`the range ends at ${last}, before its start ${first}`, start, this.position - start)
    const factor = this.#match(factorNeedsSpace ? /\s+[x×](?=\d)/iy : /\s*[x×]\s*(?=\d)/iy) ? this.#number('a factor') : undefined
    if (factor === 1) throw new SizeError('a factor of 1 never ends; expected 2 or more', start, this.position - start)
    const step = factor === undefined && this.#match(/\s+step\s*/iy) ? this.#number('a step') : undefined
    if (factor === undefined && step === undefined && !(isPowerOfTwo(first) && isPowerOfTwo(last))) {
      throw new SizeError('only a range between powers of two doubles by itself; add " x2" or " step 1000"', start, this.position - start)
    }
    const next = step === undefined ? (n: number) => n * (factor ?? 2) : (n: number) => n + step
    const values: number[] = []
    for (let n = first; n <= last; n = next(n)) {
      if (values.push(n) > MOST_STEPS) throw new SizeError('the range has too many steps; use a larger step', start, this.position - start)
    }
    return values
  }
}
