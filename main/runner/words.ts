import type { BenchmarkCase, Params } from '@core/case'
import { findOp } from '@core/ops/registry'
import type { SweepSpec } from '@core/sweep/types'

/** `a, b, c and 4 more`. */
export function listed(words: readonly string[], most: number, separator = ', '): string {
  if (words.length <= most) return words.join(separator)
  return `${words.slice(0, most).join(separator)} and ${words.length - most} more`
}

/** A case's sizes as its op labels them; plain values where the op is not known any more. */
export function shapeOf(op: string, params: Params): string {
  const found = findOp(op)
  const parsed = found?.params.safeParse(params)
  if (found && parsed?.success) return found.shapeLabel(parsed.data)
  return Object.values(params).join('x')
}

/** One case in words, e.g. `layer_norm 16384x4096 bf16 cuda cold`; the implementation where it is not plain from the backend. */
export function caseWords(c: BenchmarkCase): string {
  const threads = c.threads === undefined ? '' : ` ${c.threads} ${c.threads === 1 ? 'thread' : 'threads'}`
  return `${c.op} ${shapeOf(c.op, c.params)} ${c.dtype} ${c.backend} ${c.impl} ${c.mode}${threads}`
}

/** Name of a session whose user gave none: `softmax, layer_norm · cpu, cuda · quick`. */
export function sessionName(spec: SweepSpec): string {
  const backends = [...new Set(spec.targets.map((target) => target.backend))]
  return `${listed(spec.ops.map((pick) => pick.op), 3)} · ${listed(backends, 4)} · ${spec.preset}`.slice(0, 200)
}
