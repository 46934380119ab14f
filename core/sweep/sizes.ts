import type { Params } from '../case'
import { MAX_EXTENT } from '../ops/define'
import type { SizeForm } from '../ops/forms'

/** One size: the extents that were written, by their place among those of the form. */
export type Size = readonly (number | undefined)[]

/** Sizes in the order written, each once; or what is wrong, where (index into the text) and how many characters it spans. */
export type SizesResult = { ok: true; sizes: Size[] } | { ok: false; message: string; position: number; length: number }

/** More sizes than this in one text is taken for a slip. */
export const MAX_SIZES = 5000

/**
 * Reads sizes as the user writes them.
 *
 *   list     items separated by commas or spaces                          100, 1K 10K
 *   number   digits, a decimal suffix K M G (1000^n) or a binary one      1K = 1000, 64Ki = 65536, 1.5M, 2^20
 *            Ki Mi Gi (1024^n), or a power
 *   range    doubling between powers of two; `xF` multiplies by F;        2^10..2^24, 2^10..2^24 x4, 100..1M x10,
 *            `step S` adds S; the end is included when it is met          1000..5000 step 1000
 *   shape    extents joined by x; braces hold a list for one extent;      4096x1024, {128,256}x{1024..4096}
 *            every combination is taken, the last extent fastest
 *   single   one extent alone is a vector's length, a square or a cube    512 -> 512x512 for a matrix, 512x512x512 for gemm
 *   named    name=number, or a short name of the form; names separated    n=32 c=64 hw=56 k=64 r={1,3} s=1
 *            by spaces belong to one item, also after a shape             512x512x64 batch={1,8}
 *
 * After a range outside braces, a space before `x` and none after it means a factor (`1024..8192 x2`); otherwise `x` joins extents.
 */
export function parseSizes(form: SizeForm, text: string): SizesResult {
  const reader = new SizeReader(text)
  const sizes = new Map<string, Size>()
  try {
    for (reader.skipSeparators(); !reader.atEnd; reader.skipSeparators()) {
      const start = reader.position
      for (const size of item(reader, form)) {
        sizes.set(size.join('x'), size)
        if (sizes.size > MAX_SIZES) throw new SizeError(`more than ${MAX_SIZES} sizes; use a larger step or factor`, start, reader.position - start)
      }
    }
  } catch (error) {
    if (!(error instanceof SizeError)) throw error
    return { ok: false, message: error.message, position: error.position, length: error.length }
  }
  return { ok: true, sizes: [...sizes.values()] }
}

/** What one item of a form may look like, for messages. */
function formOf({ positional, extents, example }: SizeForm): string {
  const places = extents.slice(0, positional).map(({ title }) => title.toLowerCase())
  if (positional === 0) return `extents by name such as ${example}`
  if (positional === 1) return `a length such as ${example}`
  const alone = positional === 2 ? ', or one number for a square' : positional === 3 ? ', or one number for a cube' : ''
  return `${places.join(' x ')} such as ${example}${alone}`
}

/** One item of the list, as all sizes it stands for. */
function* item(reader: SizeReader, form: SizeForm): Generator<Size> {
  const { extents, positional } = form
  const start = reader.position
  const choices = new Map<number, readonly number[]>()
  let alone: readonly number[] | undefined
  if (!reader.atName) {
    if (positional === 0) throw new SizeError(`expected ${formOf(form)}`, start, 1)
    const values = [reader.extent(positional > 1)]
    while (reader.takeJoin()) values.push(reader.extent(positional > 1))
    const length = reader.position - start
    reader.expectEndOfItem()
    if (values.length === 1 && positional <= 3) alone = values[0]
    else if (values.length !== positional) throw new SizeError(`${values.length} extents; expected ${formOf(form)}`, start, length)
    else values.forEach((list, at) => choices.set(at, list))
  }
  for (reader.skipSpaces(); reader.atName; reader.skipSpaces()) named(reader, form, choices)
  const missing = extents.filter((extent, at) => extent.default === undefined && !choices.has(at) && !(alone && at < positional))
  if (missing.length > 0) throw new SizeError(`${missing.map(({ name }) => name).join(', ')} missing; expected ${formOf(form)}`, start, Math.max(1, reader.position - start))

  const lists = [...choices].sort(([a], [b]) => a - b)
  const count = [...lists.map(([, list]) => list), ...(alone ? [alone] : [])].reduce((product, list) => product * list.length, 1)
  if (lists.length > 0 && count > MAX_SIZES) throw new SizeError(`${count} combinations; at most ${MAX_SIZES} sizes are taken`, start, reader.position - start)
  for (const first of alone ?? [undefined]) yield* combined(lists, extents.map((_extent, at) => (first !== undefined && at < positional ? first : undefined)))
}

/** Every combination of the lists, the last fastest, put into `base`. Extents that one name sets share a list and move together. */
function* combined(lists: readonly (readonly [number, readonly number[]])[], base: Size): Generator<Size> {
  const distinct = [...new Set(lists.map(([, list]) => list))]
  const count = distinct.reduce((product, list) => product * list.length, 1)
  for (let at = 0; at < count; at++) {
    let rest = at
    const chosen = new Map<readonly number[], number>()
    for (let i = distinct.length - 1; i >= 0; i--) {
      const list = distinct[i]!
      chosen.set(list, list[rest % list.length]!)
      rest = Math.floor(rest / list.length)
    }
    const size = [...base]
    for (const [place, list] of lists) size[place] = chosen.get(list)
    yield size
  }
}

function named(reader: SizeReader, { extents, short }: SizeForm, choices: Map<number, readonly number[]>): void {
  const start = reader.position
  const name = reader.name()
  const own = extents.some((extent) => extent.name === name)
  const targets = own ? [name] : Object.hasOwn(short, name) ? short[name]! : undefined
  if (!targets) throw new SizeError(`there is no extent "${name}"; expected one of ${[...Object.keys(short), ...extents.map((extent) => extent.name)].join(', ')}`, start, name.length)
  const values = reader.extent(true, Math.max(...targets.map((target) => extents.find((extent) => extent.name === target)!.min ?? 1)))
  reader.expectEndOfItem()
  for (const target of targets) choices.set(extents.findIndex((extent) => extent.name === target), values)
}

/** The parameters an op gets for a size of its form; extents that were not written are left to their defaults. */
export const sizeParams = (form: SizeForm, size: Size): Params => Object.fromEntries(form.extents.flatMap(({ name }, i) => (size[i] === undefined ? [] : [[name, size[i]]])))

/** The text that parseSizes reads as this size: extents by place, the rest by name. */
export function sizeText({ extents, positional }: SizeForm, params: Params): string {
  const places = extents.slice(0, positional).map(({ name }) => Number(params[name]))
  const rest = extents.slice(positional).flatMap(({ name }) => (params[name] === undefined ? [] : [`${name}=${String(params[name])}`]))
  return [places.join('x'), ...rest].filter(Boolean).join(' ')
}

/** A mistake in a size text: `position` and `length` mark the characters it is about. */
class SizeError extends Error {
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
const MAX_STEPS = 100_000
const isPowerOfTwo = (n: number) => Number.isInteger(Math.log2(n))

/** Reads the pieces of a size text from left to right; see parseSizes for the grammar. Throws SizeError. */
class SizeReader {
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
    if (!found) throw new SizeError(`expected ${expected}${this.atEnd ? '' : `, found "${this.#word() || this.text[start]!}"`}`, start, Math.max(1, this.#word().length))
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
    const last = this.#number('the last size of the range')
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
      if (values.push(n) > MAX_STEPS) throw new SizeError('the range has too many steps; use a larger step', start, this.position - start)
    }
    return values
  }
}
