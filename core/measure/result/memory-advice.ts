import { STORAGE_BYTES, type BenchmarkCase, type Dtype } from '../../case'
import { tensorsOf } from '../../ops/define'
import type { Op } from '../../ops/types'
import { formatBytes } from '../../units'

/** Of what is free, the share that tensors can count on: libraries and the driver take some, and memory is in pieces. */
const USABLE = 0.9

/**
 * What would fit where a case ran out of memory, in sentences: what its tensors take, what is free, how many times smaller an operation fits,
 * and the dtypes that fit at this size. `freeBytes`: bytes that a case may take on the device now; absent where the device does not tell.
 */
export function memoryAdvice(op: Op, { params, dtype }: Pick<BenchmarkCase, 'params' | 'dtype'>, freeBytes?: number): string {
  const p = op.params.parse(params)
  const bytesIn = (one: Dtype) => tensorsOf(op, p, one).reduce((sum, { elements, storage }) => sum + elements * STORAGE_BYTES[storage], 0)
  const needed = bytesIn(dtype)
  const usable = freeBytes === undefined ? needed / 2 : USABLE * freeBytes
  const free = freeBytes === undefined ? '' : `; ${formatBytes(freeBytes)} are free on the device`
  const beside = needed <= usable ? ' Workspace of the computing library comes on top.' : ''
  const parts = 2 ** Math.max(1, Math.ceil(Math.log2(needed / Math.max(1, usable))))
  const smaller = Number.isFinite(parts) && parts <= needed ? [`1/${parts} of the elements (${formatBytes(needed / parts)})`] : []
  const dtypes = op.dtypes.filter((one) => bytesIn(one) < needed && bytesIn(one) <= usable).map((one) => `${one} (${formatBytes(bytesIn(one))})`)
  const fits = [...smaller, ...dtypes]
  return `The tensors of this case take ${formatBytes(needed)}${free}.${beside}${fits.length === 0 ? ' Close other programs on the device.' : ` Try ${fits.join(', or ')}.`}`
}
