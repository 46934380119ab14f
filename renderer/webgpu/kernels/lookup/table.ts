import { mapped, type Mapped } from '../../wgsl/mapped'
import { dimOf, type Kernel, type KernelShape } from '../types'

const FLOATS = ['f32', 'f16'] as const

/** One thread for each four elements of a row, or for each one where rows are not whole vectors. */
function byRow(build: (wide: boolean) => Omit<Mapped, 'dims'>, rows: (shape: KernelShape) => number, length: (shape: KernelShape) => number): Kernel {
  return {
    dtypes: FLOATS,
    build: (shape) => {
      const wide = length(shape) % 4 === 0
      const vectors = length(shape) / (wide ? 4 : 1)
      return mapped({ ...build(wide), dims: [vectors, ...shape.dims] }, shape.dtype, rows(shape) * vectors)
    },
  }
}

const vector = (wide: boolean) => (wide ? 'own4' : 'own') as 'own' | 'own4'

/** Pairs half a head apart, or neighbours where interleaved; one thread for each pair. */
const rope: Kernel = {
  dtypes: FLOATS,
  build: (shape) => {
    const [tokens, heads, headDim] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2)]
    const half = headDim / 2
    return mapped({
      tensors: [{ name: 'x', at: { input: 0 } }, { name: 'cosines', at: { input: 1 } }, { name: 'sines', at: { input: 2 } }, { name: 'out', at: 'output', write: true }],
      body: `  let half = dim(1u);
  let head = i / half;
  let pair = i % half;
  let angle = head / dim(2u) * half + pair;
  let a = head * 2u * half + select(pair, 2u * pair, dim(3u) == 1u);
  let b = a + select(half, 1u, dim(3u) == 1u);
  let c = f32(cosines[angle]);
  let s = f32(sines[angle]);
  let u = f32(x[a]);
  let v = f32(x[b]);
  out[a] = own(u * c - v * s);
  out[b] = own(v * c + u * s);`,
      dims: [half, heads, dimOf(shape, 3)],
    }, shape.dtype, tokens * heads * half)
  },
}

/** Indices of rows, or of elements; dims of the op stand from dim(2) on: rows, dim, indices. */
const kernels: Readonly<Record<string, Kernel>> = {
  embedding: byRow((wide) => ({
    tensors: [{ name: 'indices', at: { input: 0 }, type: 'i32' }, { name: 'weight', at: { input: 1 }, type: vector(wide) }, { name: 'out', at: 'output', type: vector(wide), write: true }],
    body: '  let vectors = dim(1u);\n  out[i] = weight[u32(indices[i / vectors]) * vectors + i % vectors];',
  }), (shape) => dimOf(shape, 2), (shape) => dimOf(shape, 1)),
  gather: byRow(() => ({
    tensors: [{ name: 'x', at: { input: 0 } }, { name: 'indices', at: { input: 1 }, type: 'i32' }, { name: 'out', at: 'output', write: true }],
    body: '  out[i] = x[u32(indices[i]) * dim(3u) + i % dim(3u)];',
  }), (shape) => dimOf(shape, 2) * dimOf(shape, 1), () => 1),
  rope,
}
export default kernels
