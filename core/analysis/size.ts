import { paramText, type BenchmarkCase, type Params } from '../case'
import { tensorsOf } from '../ops/define'
import { findOp } from '../ops/registry'

const sizes = new WeakMap<BenchmarkCase, number>()

/**
 * Elements of the largest tensor of a case: the size axis of charts. Of an operation of another tool its one number,
 * such as the argument of `BM_copy/1024`; undefined where it has none or several.
 */
export function sizeOf(c: BenchmarkCase): number | undefined {
  let size = sizes.get(c)
  if (size === undefined) sizes.set(c, (size = sizeOfWork(c)))
  return size > 0 ? size : undefined
}

/** Of the works of late: every implementation of a work has its size. */
const workSizes = new Map<string, number>()
const MAX_WORKS = 50_000

function sizeOfWork(c: BenchmarkCase): number {
  const work = workOf(c)
  let size = workSizes.get(work)
  if (size !== undefined) return size
  if (workSizes.size >= MAX_WORKS) workSizes.clear()
  workSizes.set(work, (size = findSize(c)))
  return size
}

function findSize(c: BenchmarkCase): number {
  const op = findOp(c.op)
  const parsed = op?.params.safeParse(c.params)
  if (!op) return onlyNumber(c.params)
  if (!parsed?.success) return 0
  return Math.max(...tensorsOf(op, parsed.data, c.dtype).map(({ elements }) => elements))
}

function onlyNumber(params: Params): number {
  const numbers = Object.values(params).filter((value) => typeof value === 'number')
  return numbers.length === 1 && numbers[0]! > 0 ? numbers[0]! : 0
}

/** What the size axis of a chart of these cases is called. */
export const sizeTitle = (cases: readonly BenchmarkCase[]): string =>
  cases.every((c) => findOp(c.op)) ? 'elements of the largest tensor' : 'elements of the largest tensor, or the argument of an imported benchmark'

const works = new WeakMap<BenchmarkCase, string>()
/** One text for all cases of a work, so that looking for it is comparing pointers. */
const texts = new Map<string, string>()

/** What is computed under which conditions, whoever does it, wherever and with however many threads: equal for cases whose times make a speedup. */
export function workOf(c: BenchmarkCase): string {
  let work = works.get(c)
  if (work === undefined) works.set(c, (work = sameText(`${c.op}|${paramText(c.params)}|${c.dtype}|${c.mode}`)))
  return work
}

function sameText(text: string): string {
  const known = texts.get(text)
  if (known !== undefined) return known
  if (texts.size >= MAX_WORKS) texts.clear()
  texts.set(text, text)
  return text
}
