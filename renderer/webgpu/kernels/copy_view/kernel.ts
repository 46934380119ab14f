import { mapped } from '../../wgsl/mapped'
import { dimOf, type BufferName, type Kernel } from '../types'

/** A step for each view: an element, or four where all that counts them is a multiple of four, for each thread. */
const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [, views, distance, offset, batch, heads, seq, headDim, ...strides] = shape.dims as number[]
    dimOf(shape, 10)
    const counted = [offset!, headDim!, ...strides, ...(views! > 1 ? [distance!] : [])]
    const width = counted.every((value) => value % 4 === 0) ? 4 : 1
    const type = width === 4 ? 'own4' : 'own'
    const body = `  let line = i / dim(2u);
  out[i] = x[dim(1u) + i % dim(2u) + line % dim(3u) * dim(7u) + line / dim(3u) % dim(4u) * dim(6u) + line / dim(3u) / dim(4u) * dim(5u)];`
    const steps = Array.from({ length: views! }, (_, view) => {
      const to: BufferName = view === 0 ? 'output' : { output: view }
      const dims = [(offset! + view * distance!) / width, headDim! / width, seq!, heads!, ...strides.map((stride) => stride / width)]
      return mapped({ tensors: [{ name: 'x', at: { input: 0 }, type }, { name: 'out', at: to, type, write: true }], body, dims }, shape.dtype, (batch! * heads! * seq! * headDim!) / width).steps
    })
    return { scratchBytes: [], steps: steps.flat() }
  },
}
export default kernel
