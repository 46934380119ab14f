import type { BenchmarkCase } from '../case'

/** Two cases to be measured by turns: a b b a, a b b a, ... In a self-check both are the same case. */
export interface Pair {
  /** Unique within its session; results carry it in `block.pair`. */
  id: string
  a: BenchmarkCase
  b: BenchmarkCase
}
