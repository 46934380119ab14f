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
  if (size === undefined) sizes.set(c, (size = findSize(c)))
  return size > 0 ? size : undefined
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

/** What is computed under which conditions, whoever does it, wherever and with however many threads: equal for cases whose times make a speedup. */
export function workOf(c: BenchmarkCase): string {
  let work = works.get(c)
  if (work === undefined) works.set(c, (work = `${c.op}|${paramText(c.params)}|${c.dtype}|${c.mode}`))
  return work
}
