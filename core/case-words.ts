import type { BenchmarkCase } from './case'
import { findOp } from './ops/registry'

/** A case's sizes as its op labels them (`16Mi`, `4096x4096`); plain values where the op is not one of ours. */
export function shapeText(c: BenchmarkCase): string {
  const op = findOp(c.op)
  const parsed = op?.params.safeParse(c.params)
  if (op && parsed?.success) return op.shapeLabel(parsed.data)
  return Object.values(c.params).map(String).join('x')
}

/** A row in words: what was computed, and by whom where the sides do not say it: `sum last 4096x4096 f32 cuda kernel cold`. */
export function caseText(c: BenchmarkCase, inside: boolean): string {
  const variant = findOp(c.op) ? Object.values(c.params).filter((value) => typeof value === 'string') : []
  const threads = c.threads === undefined ? '' : `${c.threads} ${c.threads === 1 ? 'thread' : 'threads'}`
  return [c.op, ...variant, shapeText(c), c.dtype, ...(inside ? [] : [c.backend, c.impl]), c.mode, threads].filter(Boolean).join(' ')
}
