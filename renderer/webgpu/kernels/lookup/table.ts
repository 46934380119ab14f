import { mapped, numbersOf, type Mapped, type Numbers } from '../../wgsl/mapped'
import { dimOf, type Kernel, type KernelShape } from '../types'

const FLOATS = ['f32', 'f16'] as const

/** One thread for each four elements of a row, or for some single ones where rows are not whole vectors. dims: vectors of a row, those of the op, vectors in all. */
function byRow(build: (wide: boolean, numbers: Numbers) => Omit<Mapped, 'dims'>, rows: (shape: KernelShape) => number, length: (shape: KernelShape) => number): Kernel {
  return {
    dtypes: FLOATS,
    build: (shape) => {
      const wide = length(shape) % 4 === 0
      const vectors = length(shape) / (wide ? 4 : 1)
      const count = rows(shape) * vectors
      const numbers = numbersOf(count, !wide && shape.dtype === 'f32', `dim(${shape.dims.length + 2}u)`)
      return mapped({ ...build(wide, numbers), dims: [vectors, ...shape.dims, count] }, shape.dtype, numbers.threads)
    },
  }
}

const vector = (wide: boolean) => (wide ? 'own4' : 'own') as 'own' | 'own4'

/** Pairs half a head apart, or neighbours where interleaved; one thread for each pair, or for four of them half a head apart. */
const rope: Kernel = {
  dtypes: FLOATS,
  build: (shape) => {
    const [tokens, heads, headDim] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2)]
    const interleaved = dimOf(shape, 3) === 1
    const wide = !interleaved && headDim % 8 === 0
    const half = headDim / (wide ? 8 : 2)
    const type = vector(wide)
    const working = wide ? 'vec4<f32>' : 'f32'
    return mapped({
      tensors: [{ name: 'x', at: { input: 0 }, type }, { name: 'cosines', at: { input: 1 }, type }, { name: 'sines', at: { input: 2 }, type }, { name: 'out', at: 'output', type, write: true }],
      body: `  let half = dim(1u);
  let head = i / half;
  let pair = i % half;
  let angle = head / dim(2u) * half + pair;
  let a = head * 2u * half + ${interleaved ? '2u * pair' : 'pair'};
  let b = a + ${interleaved ? '1u' : 'half'};
  let c = ${working}(cosines[angle]);
  let s = ${working}(sines[angle]);
  let u = ${working}(x[a]);
  let v = ${working}(x[b]);
  out[a] = ${type}(u * c - v * s);
  out[b] = ${type}(v * c + u * s);`,
      dims: [half, heads],
    }, shape.dtype, tokens * heads * half)
  },
}

/** Four elements a thread, all on their way at once. The last vector may reach into the padding, whose indices are 0. */
const gather: Kernel = {
  dtypes: FLOATS,
  build: (shape) => {
    const dim = dimOf(shape, 1)
    const element = (side: string, j: number) => `f32(x[u32(at.${side})${dim === 1 ? '' : ` * ${dim}u + (4u * i + ${j}u) % ${dim}u`}])`
    return mapped({
      tensors: [{ name: 'x', at: { input: 0 } }, { name: 'indices', at: { input: 1 }, type: 'fourI32' }, { name: 'out', at: 'output', type: 'own4', write: true }],
      body: `  let at = indices[i];\n  out[i] = own4(vec4<f32>(${['x', 'y', 'z', 'w'].map(element).join(', ')}));`,
    }, shape.dtype, Math.ceil((dimOf(shape, 2) * dim) / 4))
  },
}

/** Indices of rows, or of elements; dims of the op stand from dim(2) on: rows, dim, indices. */
const kernels: Readonly<Record<string, Kernel>> = {
  embedding: byRow((wide, { each, place, at, store }) => ({
    tensors: [{ name: 'indices', at: { input: 0 }, type: 'i32' }, { name: 'weight', at: { input: 1 }, type: vector(wide) }, { name: 'out', at: 'output', type: vector(wide), write: true }],
    body: `  let vectors = dim(1u);\n${place}\n${each((u) => `  let value_${u} = weight[u32(indices[${at(u)} / vectors]) * vectors + ${at(u)} % vectors];`)}\n${each((u) => store(u, 'out', `value_${u}`))}`,
  }), (shape) => dimOf(shape, 2), (shape) => dimOf(shape, 1)),
  gather,
  rope,
}
export default kernels
