import type { BenchmarkCase } from './case'
import { attributeWords } from './ops/attributes'
import { findOp } from './ops/registry'

/** Files of other tools may have any number of parameters: what is beyond is left out. */
const MAX_WORDS = 4
const MAX_CHARACTERS = 80

/** What `find` says of a case, found once for each: charts ask for all cases of a session, tables as they draw. */
function perCase(find: (c: BenchmarkCase) => string): (c: BenchmarkCase) => string {
  const known = new WeakMap<BenchmarkCase, string>()
  return (c) => {
    let words = known.get(c)
    if (words === undefined) known.set(c, (words = find(c)))
    return words
  }
}

/** A case's sizes as its op labels them (`16Mi`, `4096x4096`); `n=3 k=7` where the op is not one of ours, or another tool means it otherwise. */
export const shapeText = perCase((c) => {
  const op = findOp(c.op)
  const parsed = op?.params.safeParse(c.params)
  if (op && parsed?.success) return op.shapeLabel(parsed.data)
  return Object.entries(c.params).filter(([, value]) => typeof value !== 'string').map(([name, value]) => `${name}=${String(value)}`).join(' ').slice(0, MAX_CHARACTERS)
})

/** Attributes that have no default or differ from it: `last`, `causal`, `eps=0.001`. Empty for most cases. Of an op that is not one of ours: its words as they stand. */
export const variantText = perCase((c) => attributeWords(findOp(c.op)?.attributes ?? {}, c.params).slice(0, MAX_WORDS).join(' '))

/** `sum last`, `gelu`. */
export const operationText = (c: BenchmarkCase): string => [c.op, variantText(c)].filter(Boolean).join(' ')

/** `8 threads`; empty without a choice of threads. */
export const threadText = ({ threads }: Pick<BenchmarkCase, 'threads'>): string => (threads === undefined ? '' : `${threads} ${threads === 1 ? 'thread' : 'threads'}`)

/**
 * What was computed, and by whom: `sum last 4096x4096 f32 cuda kernel cold`.
 * @param inside the sides of a comparison say by whom
 * @param by what stands for the device: its backend, or its id
 */
export const caseText = (c: BenchmarkCase, inside = false, by: string = c.backend): string => [operationText(c), shapeText(c), c.dtype, ...(inside ? [] : [by, c.impl]), c.mode, threadText(c)].filter(Boolean).join(' ')
