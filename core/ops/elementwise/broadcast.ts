import type { Params } from '../../case'
import { MAX_EXTENT, divisorUpTo } from '../define'
import type { AttributeSpec } from '../attributes'
import type { ReadInput } from '../types'

/** Shapes of the second operand, in the order of the number kernels get for each. */
const BROADCASTS = ['none', 'row', 'column', 'scalar'] as const
export type Broadcast = (typeof BROADCASTS)[number]

/**
 * Attributes of ops whose second operand may be smaller. The n elements are then read as rows of `cols`, and the second
 * operand is one row [cols], one column [n/cols, 1] or one element.
 */
export const broadcastAttributes: Readonly<Record<string, AttributeSpec>> = {
  broadcast: { title: 'Broadcast', kind: 'choice', words: BROADCASTS, default: 'none' },
  cols: { title: 'Columns', kind: 'number', whole: true, default: 0, min: 0, max: MAX_EXTENT },
}

/** n elements as rows, and how the second operand is spread over them. */
interface BroadcastShape {
  kind: Broadcast
  n: number
  cols: number
}

/** `cols` 0 stands for the largest divisor of n not above its square root. */
export function broadcastOf(p: Params): BroadcastShape {
  const n = p['n'] as number
  return { kind: p['broadcast'] as Broadcast, n, cols: (p['cols'] as number) || divisorUpTo(n, Math.floor(Math.sqrt(n))) }
}

/** Why these parameters do not fit together. */
export function refuseBroadcast({ n, broadcast, cols }: Params): string | undefined {
  if (cols === 0) return undefined
  if (broadcast !== 'row' && broadcast !== 'column') return `cols takes effect with broadcast row or column only, received broadcast ${String(broadcast)}`
  return (n as number) % (cols as number) === 0 ? undefined : `expected cols to divide n, received cols ${String(cols)} and n ${String(n)}`
}

/** dims: [n], or [n, cols, 1 row | 2 column | 3 scalar]. */
export const broadcastDims = ({ kind, n, cols }: BroadcastShape): number[] => (kind === 'none' ? [n] : [n, cols, BROADCASTS.indexOf(kind)])

/** Shapes of the first operand, which is also that of the output, and of the second. PyTorch's broadcasting joins them. */
export function broadcastShapes({ kind, n, cols }: BroadcastShape): { whole: number[]; second: number[] } {
  if (kind === 'none' || kind === 'scalar') return { whole: [n], second: [kind === 'none' ? n : 1] }
  return { whole: [n / cols, cols], second: kind === 'row' ? [cols] : [n / cols, 1] }
}

/** The second operand, tensor 1, for elements `start .. start + count`. */
export function spread({ kind, cols }: BroadcastShape, read: ReadInput, start: number, count: number): ArrayLike<number> {
  if (kind === 'none') return read(1, start, count)
  const out = new Float64Array(count)
  if (kind === 'scalar') return out.fill(read(1, 0, 1)[0]!)
  if (kind === 'column') {
    const first = Math.floor(start / cols)
    const values = read(1, first, Math.floor((start + count - 1) / cols) - first + 1)
    for (let i = 0; i < count; i++) out[i] = values[Math.floor((start + i) / cols) - first]!
    return out
  }
  // A range shorter than a row takes the one or two pieces of it that it needs.
  const from = start % cols
  const pieces = from + count <= cols ? [read(1, from, count)] : count < cols ? [read(1, from, cols - from), read(1, 0, from + count - cols)] : []
  if (pieces.length > 0) {
    let at = 0
    for (const piece of pieces) for (const value of piece) out[at++] = value
    return out
  }
  const row = read(1, 0, cols)
  for (let i = 0, column = from; i < count; i++, column = column + 1 === cols ? 0 : column + 1) out[i] = row[column]!
  return out
}
