import { STORAGE_BYTES, type BenchmarkCase, type Dtype } from '../../case'
import { scratchBytes } from '../../ops/composite-plan'
import { tensorsOf } from '../../ops/define'
import type { Op } from '../../ops/types'
import { formatBytes } from '../../units'

/** Of what is free, the share that tensors can count on: libraries and the driver take some, and memory is in pieces. */
const USABLE = 0.9

/** Bytes of all tensors of a case, those between the parts of a composite op included. */
export function tensorBytes(op: Op, { params, dtype }: Pick<BenchmarkCase, 'params' | 'dtype'>): number {
  const p = op.params.parse(params)
  return tensorsOf(op, p, dtype).reduce((sum, { elements, storage }) => sum + elements * STORAGE_BYTES[storage], scratchBytes(op, p, dtype))
}

/** What would fit into `usable` bytes where a case does not: the share of its elements, and the dtypes that fit at this size. */
function whatFits(op: Op, { params, dtype }: Pick<BenchmarkCase, 'params' | 'dtype'>, usable: number): string[] {
  const bytesIn = (one: Dtype) => tensorBytes(op, { params, dtype: one })
  const needed = bytesIn(dtype)
  const parts = 2 ** Math.max(1, Math.ceil(Math.log2(needed / Math.max(1, usable))))
  const smaller = Number.isFinite(parts) && parts <= needed ? [`1/${parts} of the elements (${formatBytes(needed / parts)})`] : []
  const dtypes = op.dtypes.filter((one) => bytesIn(one) < needed && bytesIn(one) <= usable).map((one) => `${one} (${formatBytes(bytesIn(one))})`)
  return [...smaller, ...dtypes]
}

/** Why a case is not tried on a device where `freeBytes` may be taken and its tensors need more, as the reason of a sweep. */
export function doesNotFit(op: Op, c: Pick<BenchmarkCase, 'params' | 'dtype'>, device: string, freeBytes: number): string {
  const fits = whatFits(op, c, USABLE * freeBytes)
  return `${op.parts ? 'inputs, output and scratch memory between the parts' : 'inputs and output'} take ${formatBytes(tensorBytes(op, c))}; a case may take ${formatBytes(freeBytes)} on ${device}${fits.length === 0 ? '' : `. What fits: ${fits.join(', or ')}`}`
}

/**
 * What would fit where a case ran out of memory, in sentences: what its tensors take, what is free, how many times smaller an operation fits,
 * and the dtypes that fit at this size. `freeBytes`: bytes that a case may take on the device now; absent where the device does not tell.
 */
export function memoryAdvice(op: Op, c: Pick<BenchmarkCase, 'params' | 'dtype'>, freeBytes?: number): string {
  const needed = tensorBytes(op, c)
  const usable = freeBytes === undefined ? needed / 2 : USABLE * freeBytes
  const free = freeBytes === undefined ? '' : `; ${formatBytes(freeBytes)} are free on the device`
  const beside = needed <= usable ? ' Workspace of the computing library comes on top.' : ''
  const fits = whatFits(op, c, usable)
  return `The tensors of this case take ${formatBytes(needed)}${free}.${beside}${fits.length === 0 ? ' Close other programs on the device.' : ` Try ${fits.join(', or ')}, or close other programs on the device.`}`
}
