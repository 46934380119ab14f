import { step, widthFor } from '../../wgsl/header'
import { acrossProduct } from '../matmul/across'
import { joinedParts } from '../matmul/joined'
import { matmulText } from '../matmul/kernel'
import { chunkOf, partsOfProduct, threadsOf, tilesFor, usedOf } from '../matmul/tiles'
import { dimOf, type Kernel, type KernelShape, type Program } from '../types'
import { denseConvolution, isDense } from './dense'
import { directConvolution, directPlan, FILTERS } from './direct'
import { fewFilters, planFewFilters } from './few-filters'
import { fewTerms, planFewTerms } from './few-terms'
import { gatherImage } from './gather'
import { placedSums } from './joined'
import { ownFilters, planOwnFilters } from './own-filters'
import { ownPlanes, planOwnPlanes } from './own-planes'
import { AXES_AT, reached, withReachedWeights } from './reach'

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

/** The element of x that output `o` meets with tap `t` of the plane from `base` on; 0 in the padding, where an element is read all the same: several are on their way at once. */
const MET = `fn met(base: u32, o: u32, t: u32) -> f32 {
  let d = i32(o / (h_output * w_output) * stride + t / (h_kernel * w_kernel) * dilation) - i32(d_padding);
  let h = i32(o / w_output % h_output * stride + t / w_kernel % h_kernel * dilation) - i32(h_padding);
  let w = i32(o % w_output * stride + t % w_kernel * dilation) - i32(w_padding);
  let outside = (d < 0) | (h < 0) | (w < 0) | (d >= i32(d_input)) | (h >= i32(h_input)) | (w >= i32(w_input));
  return select(f32(x[base + select((u32(d) * h_input + u32(h)) * w_input + u32(w), 0u, outside)]), 0.0, outside);
}
`

/** Outputs of all images beside each other, in their places. */
const PLACE_FOLDED = `fn place(base: u32, row: u32, col: u32) -> u32 { return (col / outputs * filters + base * (filters / groups) + row) * outputs + col % outputs; }
`

/** Columns of the narrowest tile, and how much of the tiles of an image may stand empty. */
const NARROWEST = 64
const MOST_EMPTY = 1 / 8

/** Whether tiles take outputs of several images: those of one would leave much of them empty. */
export const isFolded = (batch: number, outputs: number): boolean => batch > 1 && outputs / (Math.ceil(outputs / NARROWEST) * NARROWEST) < 1 - MOST_EMPTY

/** Filters of a group, and terms of a sum, below which a tile of a product would stand nearly empty; more than one thread computes are still faster by tiles where these are many. */
const FEW_FILTERS = 16
const FEW_TERMS = 8
const MANY_TILES = 528
/** Tiles that leave most of a device idle, and multiply-adds up to which threads that share sums are faster then. */
const FEW_TILES = 64
const LITTLE = 2 ** 24
/** Terms of up to FEW_ROWS filters at a stride, for which tiles wait longer than they multiply. */
const SHORT = 16
/** Of the multiply-adds of tiles: where fewer are of outputs and terms, or rows are no whole vectors, threads of short sums take less. */
const MOST_USED = 0.8
/** Filters of one tap up to which each image is a product of few rows. */
const FEWEST_FILTERS = 6
/** Rows of a tile up to which its columns are spread out where rows of outputs are no whole vectors; of more rows wherever a multiprocessor has one workgroup or these are small: spread columns take more registers. */
const FEW_ROWS = 64
const FEW_THREADS = 160
const FEW_WORKGROUPS = 264
/** Tiles of a matrix that leave much of a device idle. */
const FEW_OF_MATRIX = 132

/** A product of the filters with the gathered image (implicit GEMM), or sums without tiles where these would stand nearly empty or be too few. `whole`: the shape before taps were left out. */
function planned(shape: KernelShape, whole?: KernelShape): Program {
  const [batch, channels, filters, groups] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2), dimOf(shape, 3)]
  const extents = (at: number) => [dimOf(shape, 6 + at), dimOf(shape, 10 + at), dimOf(shape, 14 + at)] as const
  const volume = (at: number) => extents(at).reduce((product, extent) => product * extent, 1)
  const [taps, outputs] = [volume(1), volume(3)]
  const [m, k] = [filters / groups, (channels / groups) * taps]
  const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
  const images = batch * groups
  const folded = isFolded(batch, outputs)
  const [products, n] = folded ? [groups, batch * outputs] : [images, outputs]
  // Each image is the matrix itself where a filter is one element that meets every element of x.
  const isMatrix = !folded && taps === 1 && dimOf(shape, 4) === 1 && AXES_AT.every((at) => dimOf(shape, at + 2) === 0 && dimOf(shape, at) === dimOf(shape, at + 3))
  const { tile, tilesM, tilesN } = tilesFor(products, m, n, k, !isMatrix)
  const tiles = products * tilesM * tilesN
  // Padding of the whole shape, which may be behind the last element alone.
  const paddings = AXES_AT.map((at) => dimOf(whole ?? shape, at + 2))
  const across = isMatrix && groups === 1 && m <= FEWEST_FILTERS ? acrossProduct({ ...shape, dims: [batch, m, n, k, 0, 0] }, { left: 1, right: 0, shared: true }) : undefined
  if (across) return across
  const planesOf = { filters: m, planes: batch * channels, outputs: extents(3), kernel: extents(1), stride: dimOf(shape, 4), dilation: dimOf(shape, 5), paddings }
  const ownRows = channels === groups ? planOwnPlanes(planesOf) : undefined
  if (ownRows) return ownPlanes(dtype, ownRows, constants(shape), planesOf)
  const dense = { batch, channels, filters, groups, plane: volume(0), taps, outputs }
  if (isDense(dense)) return denseConvolution(shape, dense, constants(shape))
  const ownOf = planOwnFilters(groups, m, batch, outputs, k)
  if (ownOf) return ownFilters(dtype, ownOf, constants(shape), { terms: k, batch, taps })
  const fewOf = planFewFilters(groups, m, batch * outputs, channels / groups, taps)
  if (fewOf) return fewFilters(dtype, fewOf, m, constants(shape), { groups, paddings, batch, outputs })
  if ((m < FEW_FILTERS && (m <= FILTERS || (tiles < MANY_TILES && images * m * outputs * k <= LITTLE))) || k <= FEW_TERMS || (tiles < FEW_TILES && images * m * outputs * k <= LITTLE))
    return directConvolution(dtype, directPlan(images * outputs, m, k), `${constants(shape)}${MET}`, images * outputs, k)
  const parts = Math.ceil(k / chunkOf(k, partsOfProduct(tiles, k, threadsOf(tile).threads)))
  const few = isMatrix && tiles >= FEW_OF_MATRIX ? undefined : planFewTerms(groups, m, batch * outputs, k)
  if (few && ((k <= SHORT && m <= FEW_ROWS && dimOf(shape, 4) > 1) || isMatrix || outputs % 4 !== 0 || usedOf(products, m, n, k) < MOST_USED)) return fewTerms(dtype, few, constants(shape), { groups, terms: k, paddings })
  const split = parts > 1
  const widthOut = split ? widthFor(n) : folded ? 1 : widthFor(outputs)
  const spread = isMatrix ? widthOut === 1 : tile.rows <= FEW_ROWS ? widthOut === 1 : threadsOf(tile).threads <= FEW_THREADS || parts * tiles <= FEW_WORKGROUPS
  const wgsl = matmulText({
    dtype, transA: false, transB: false, widthA: widthFor(k), widthB: isMatrix ? widthFor(n) : 1, widthOut: spread ? 1 : widthOut, spread, tile, split,
    baseA: `product % ${groups}u * m * k`,
    ...(isMatrix ? {} : { gather: gatherImage(constants(shape), folded, paddings) }),
    ...(folded && !split ? { place: PLACE_FOLDED } : {}),
  })
  const made = step(wgsl, [{ input: 1 }, { input: 0 }, split ? { scratch: 0 } : 'output'], [m, n, k, tilesM, tilesN, products * parts, parts, chunkOf(k, parts)], parts * tiles)
  if (!split) return { scratchBytes: [], steps: [made] }
  if (!folded) return joinedParts(made, shape, products, m * n, parts)
  return { scratchBytes: [4 * products * parts * m * n], steps: [made, placedSums(shape, { groups, rows: m, columns: n, outputs }, parts)] }
}

/** A convolution of the taps that meet elements: others are left out where that saves much. */
const convolution: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const less = reached(shape)
    return less ? withReachedWeights(shape, less, planned(less.shape, shape)) : planned(shape)
  },
}

const kernels: Readonly<Record<string, Kernel>> = { conv1d: convolution, conv2d: convolution, conv3d: convolution }
export default kernels
