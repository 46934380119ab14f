import { mapped } from '../../wgsl/mapped'
import { dimOf, type BufferName, type Kernel } from '../types'

/** A step for each view: an element, or four where all that counts them is a multiple of four, for each thread. */
const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [views, distance, offset, batch, heads, seq, headDim] = [1, 2, 3, 4, 5, 6, 7].map((at) => dimOf(shape, at)) as [number, number, number, number, number, number, number]
    const strides = [8, 9, 10].map((at) => dimOf(shape, at))
    const bias = dimOf(shape, 11) === 1
    const width = [offset, headDim, ...strides, ...(views > 1 ? [distance] : [])].every((value) => value % 4 === 0) ? 4 : 1
    const type = width === 4 ? 'own4' : 'own'
    const wide = width === 4 ? 'vec4<f32>' : 'f32'
    const body = `  let line = i / dim(2u);
  let in_row = dim(1u) + i % dim(2u) + line / dim(3u) % dim(4u) * dim(6u);
  let in_x = in_row + line % dim(3u) * dim(7u) + line / dim(3u) / dim(4u) * dim(5u);
  out[i] = ${bias ? `${type}(${wide}(x[in_x]) + ${wide}(bias[in_row]))` : 'x[in_x]'};`
    const steps = Array.from({ length: views }, (_, view) => {
      const to: BufferName = view === 0 ? 'output' : { output: view }
      const dims = [(offset + view * distance) / width, headDim / width, seq, heads, ...strides.map((stride) => stride / width)]
      const read = [{ name: 'x', at: { input: 0 }, type } as const, ...(bias ? [{ name: 'bias', at: { input: 1 }, type } as const] : [])]
      return mapped({ tensors: [...read, { name: 'out', at: to, type, write: true }], body, dims }, shape.dtype, (batch * heads * seq * headDim) / width).steps
    })
    return { scratchBytes: [], steps: steps.flat() }
  },
}
export default kernel
