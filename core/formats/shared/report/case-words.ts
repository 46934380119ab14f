import type { BenchmarkCase } from '../../../case'
import { attributeWords } from '../../../ops/attributes'
import { findOp } from '../../../ops/registry'

/** A case in words: its shape with attributes, and what tells its line in a chart from others. */
export function caseWordsOf(c: BenchmarkCase): { shape: string; line: string } {
  const op = findOp(c.op)
  const parsed = op?.params.safeParse(c.params)
  const variants = op ? attributeWords(op.attributes, c.params) : Object.values(c.params).filter((value) => typeof value === 'string')
  const size = op && parsed?.success ? op.shapeLabel(parsed.data) : Object.entries(c.params).filter(([, v]) => typeof v !== 'string').map(([k, v]) => `${k}=${String(v)}`).join(' ')
  const threads = c.threads === undefined ? '' : `${c.threads} thread${c.threads === 1 ? '' : 's'}`
  return { shape: [size, ...variants].join(' '), line: [c.device, c.impl, ...variants, c.dtype, c.mode, threads].filter(Boolean).join(' ') }
}
