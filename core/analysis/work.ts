import { paramText, type BenchmarkCase } from '../case'

const works = new WeakMap<BenchmarkCase, string>()

/** What is computed under which conditions, whoever does it, wherever and with however many threads: equal for cases whose times make a speedup. */
export function workOf(c: BenchmarkCase): string {
  let work = works.get(c)
  if (work === undefined) works.set(c, (work = `${c.op}|${paramText(c.params)}|${c.dtype}|${c.mode}`))
  return work
}
