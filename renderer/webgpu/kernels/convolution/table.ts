import { step, widthFor } from '../../wgsl/header'
import { mapped } from '../../wgsl/mapped'
import { chunkOf, joinedParts, matmulText, partsOf, tilesFor } from '../matmul/kernel'
import { dimOf, type Kernel, type KernelShape, type Program } from '../types'
import { directConvolution, directPlan } from './direct'

/** Extents of one axis, in the order of the op's dims. */
const AXIS = ['input', 'kernel', 'padding', 'output'] as const

/** The op's dims as WGSL constants: divisions by a constant are multiplications. */
function constants(shape: KernelShape): string {
  const names = ['batch', 'channels', 'filters', 'groups', 'stride', 'dilation', ...['d', 'h', 'w'].flatMap((axis) => AXIS.map((extent) => `${axis}_${extent}`))]
  return `${names.map((name, i) => `const ${name} = ${dimOf(shape, i)}u;`).join('\n')}
const per_group = channels / groups;
const taps = d_kernel * h_kernel * w_kernel;
const plane = d_input * h_input * w_input;
const outputs = d_output * h_output * w_output;
`
}

/** The element of x that output `o` meets with tap `t` of the plane from `base` on; 0 in the padding, where with `always` an element is read all the same: several are on their way at once. */
const element = (x: string, always = false) => `fn met(base: u32, o: u32, t: u32) -> f32 {
  let d = i32(o / (h_output * w_output) * stride + t / (h_kernel * w_kernel) * dilation) - i32(d_padding);
  let h = i32(o / w_output % h_output * stride + t / w_kernel % h_kernel * dilation) - i32(h_padding);
  let w = i32(o % w_output * stride + t % w_kernel * dilation) - i32(w_padding);
  let outside = d < 0 || h < 0 || w < 0 || d >= i32(d_input) || h >= i32(h_input) || w >= i32(w_input);
  ${always ? `return select(f32(${x}[base + select((u32(d) * h_input + u32(h)) * w_input + u32(w), 0u, outside)]), 0.0, outside);` : `if (outside) { return 0.0; }
  return f32(${x}[base + (u32(d) * h_input + u32(h)) * w_input + u32(w)]);`}
}
`

/** The columns of a convolution as a product: row = channel and tap, column = output; `base` counts images and groups. */
const LOAD_B = `fn load_b(base: u32, row: u32, col: u32, rows: u32, cols: u32) -> vec4<f32> {
  var v = vec4<f32>(0.0);
  if (row >= rows) { return v; }
  let image = (base / groups * channels + base % groups * per_group + row / taps) * plane;
  let tap = row % taps;
${[0, 1, 2, 3].map((j) => `  if (col + ${j}u < cols) { v[${j}] = met(image, col + ${j}u, tap); }`).join('\n')}
  return v;
}
`

/** The same with the outputs of all images beside each other; `base` counts groups. */
const LOAD_FOLDED = `fn load_b(base: u32, row: u32, col: u32, rows: u32, cols: u32) -> vec4<f32> {
  var v = vec4<f32>(0.0);
  if (row >= rows) { return v; }
  let channel = base * per_group + row / taps;
  let tap = row % taps;
${[0, 1, 2, 3].map((j) => `  if (col + ${j}u < cols) { v[${j}] = met(((col + ${j}u) / outputs * channels + channel) * plane, (col + ${j}u) % outputs, tap); }`).join('\n')}
  return v;
}
`
const PLACE_FOLDED = `fn place(base: u32, row: u32, col: u32) -> u32 { return (col / outputs * filters + base * (filters / groups) + row) * outputs + col % outputs; }
`

/** Columns of the narrowest tile, and how much of the tiles of an image may stand empty. */
const NARROWEST = 64
const MOST_EMPTY = 1 / 8

/** Whether tiles take outputs of several images: those of one would leave much of them empty. */
export const isFolded = (batch: number, outputs: number): boolean => batch > 1 && outputs / (Math.ceil(outputs / NARROWEST) * NARROWEST) < 1 - MOST_EMPTY

/** Scratch 1, [filter, image, output], to [image, filter, output]. */
const unfolded = (shape: KernelShape, filters: number, outputs: number, n: number): Program =>
  mapped({
    tensors: [{ name: 'sums', at: { scratch: 1 }, type: 'f32' }, { name: 'out', at: 'output', write: true }],
    body: '  out[i] = own(sums[i / dim(2u) % dim(1u) * dim(3u) + i / (dim(1u) * dim(2u)) * dim(2u) + i % dim(2u)]);',
    dims: [filters, outputs, n],
  }, shape.dtype, filters * n)

/** Filters of a group, and terms of a sum, below which a tile of a product would stand nearly empty. */
const FEW_FILTERS = 16
const FEW_TERMS = 8
/** Tiles that leave most of a device idle, and multiply-adds up to which threads that share sums are faster then. */
const FEW_TILES = 64
const LITTLE = 2 ** 24

/** A product of the filters with the gathered image (implicit GEMM), or sums without tiles where these would stand nearly empty or be too few. */
const convolution: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [batch, channels, filters, groups] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2), dimOf(shape, 3)]
    const volume = (at: number) => dimOf(shape, 6 + at) * dimOf(shape, 10 + at) * dimOf(shape, 14 + at)
    const [taps, outputs] = [volume(1), volume(3)]
    const [m, k] = [filters / groups, (channels / groups) * taps]
    const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
    const images = batch * groups
    const folded = isFolded(batch, outputs)
    const [products, n] = folded ? [groups, batch * outputs] : [images, outputs]
    const { tile, tilesM, tilesN } = tilesFor(products, m, n)
    if (m < FEW_FILTERS || k <= FEW_TERMS || (products * tilesM * tilesN < FEW_TILES && images * m * outputs * k <= LITTLE))
      return directConvolution(dtype, directPlan(images * outputs, m, k), `${constants(shape)}${element('x', true)}`, images * outputs)
    const parts = partsOf(products * tilesM * tilesN, k)
    const split = parts > 1
    const wgsl = matmulText({
      dtype, transA: false, transB: false, widthA: widthFor(k), widthB: 1, widthOut: split ? widthFor(n) : folded ? 1 : widthFor(outputs), tile, split,
      gathered: { loadB: `${constants(shape)}${element('b')}${folded ? LOAD_FOLDED : LOAD_B}`, baseA: 'product % groups * m * k', ...(folded && !split ? { place: PLACE_FOLDED } : {}) },
    })
    const made = step(wgsl, [{ input: 1 }, { input: 0 }, split ? { scratch: 0 } : 'output'], [m, n, k, tilesM, tilesN, products * parts, parts, chunkOf(k, parts)], products * parts * tilesM * tilesN)
    if (!split) return { scratchBytes: [], steps: [made] }
    if (!folded) return joinedParts(made, shape, products, m * n, parts)
    const joined = joinedParts(made, shape, products, m * n, parts, { scratch: 1 })
    return { ...joined, steps: [...joined.steps, ...unfolded(shape, filters, outputs, n).steps] }
  },
}

const kernels: Readonly<Record<string, Kernel>> = { conv1d: convolution, conv2d: convolution, conv3d: convolution }
export default kernels
