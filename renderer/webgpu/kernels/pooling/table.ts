import { mapped } from '../../wgsl/mapped'
import reductions from '../reduction/table'
import { dimOf, type Kernel, type KernelShape, type Program } from '../types'
import { poolingByRows } from './by-rows'
import { sharedPooling } from './shared'
import { widePooling } from './wide'
import { adaptiveWindowOf, adaptiveWindows } from './windows'

/** First and end of output `o`'s window along an axis of `size` with `outputs` outputs; kernel, stride and padding are dims 5 to 7. */
const EVEN = `fn first(o: u32, size: u32, outputs: u32) -> u32 { return u32(max(i32(o * dim(6u)) - i32(dim(7u)), 0)); }
fn end(o: u32, size: u32, outputs: u32) -> u32 { return u32(min(i32(o * dim(6u) + dim(5u)) - i32(dim(7u)), i32(size))); }
`

/** Elements that a mean divides by: the whole kernel, padding included. */
const COUNTED = { signal: 'f32(dim(5u))', image: 'f32(dim(5u) * dim(5u))' } as const

/** Most elements of a window that are read one by one, all on their way at once. */
const MOST_UNROLLED = 9

/** The even windows of one case with its sizes as constants: divisions by them are multiplications, and the reads of a window do not wait for each other. */
function unrolled(shape: KernelShape, windows: 'signal' | 'image', max: boolean): Program {
  const [planes, height, width, outHeight, outWidth, kernel, stride, padding] = Array.from({ length: 8 }, (_, i) => dimOf(shape, i)) as [number, number, number, number, number, number, number, number]
  const vectors = widePooling(shape, { planes, height, width, outHeight, outWidth, kernel, stride, padding, signal: windows === 'signal' }, max)
  if (vectors) return vectors
  const [tall, wide] = [windows === 'signal' ? 1 : kernel, kernel]
  const taps = Array.from({ length: tall * wide }, (_, i) => [Math.floor(i / wide), i % wide] as const)
  const neutral = max ? '-3.4028234663852886e38' : '0.0'
  const join = (a: string, b: string) => (max ? `max(${a}, ${b})` : `${a} + ${b}`)
  return mapped({
    tensors: [{ name: 'x', at: { input: 0 } }, { name: 'out', at: 'output', write: true }],
    body: `  let o_column = i % ${outWidth}u;
  let o_row = i / ${outWidth}u % ${outHeight}u;
  let plane = i / ${outWidth * outHeight}u;
  let top = ${windows === 'signal' ? '0' : `i32(o_row * ${stride}u) - ${padding}`};
  let left = i32(o_column * ${stride}u) - ${padding};
${taps.map(([r, c], t) => `  let r${t} = top + ${r}; let c${t} = left + ${c}; let in${t} = r${t} >= 0 && c${t} >= 0 && r${t} < ${height} && c${t} < ${width};
  let v${t} = select(${neutral}, f32(x[plane * ${height * width}u + u32(clamp(r${t}, 0, ${height - 1})) * ${width}u + u32(clamp(c${t}, 0, ${width - 1}))]), in${t});`).join('\n')}
  var value = v0;
${taps.slice(1).map((_, t) => `  value = ${join('value', `v${t + 1}`)};`).join('\n')}
  out[i] = own(${max ? 'value' : `value / ${kernel ** (windows === 'signal' ? 1 : 2)}.0`});`,
  }, shape.dtype, planes * outHeight * outWidth)
}

/** Joins the elements of a window between `top`, `bottom`, `left` and `right`, one by one. */
const oneByOne = (max: boolean, counted: string): string => `  var value = ${max ? '-3.4028234663852886e38' : '0.0'};
  for (var r = top; r < bottom; r++) {
    let base = (plane * dim(1u) + r) * dim(2u);
    for (var c = left; c < right; c++) { value = ${max ? 'max(value, f32(x[base + c]))' : 'value + f32(x[base + c])'}; }
  }
  out[i] = own(${max ? 'value' : `value / ${counted}`});`

/** Even windows: one thread for each output. */
const even = (windows: 'signal' | 'image', max: boolean): Kernel => ({
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    if (dimOf(shape, 5) ** (windows === 'signal' ? 1 : 2) <= MOST_UNROLLED) return unrolled(shape, windows, max)
    return mapped({
      tensors: [{ name: 'x', at: { input: 0 } }, { name: 'out', at: 'output', write: true }],
      functions: EVEN,
      body: `  let o_column = i % dim(4u);
  let o_row = i / dim(4u) % dim(3u);
  let plane = i / dim(4u) / dim(3u);
${windows === 'signal' ? '  let top = 0u;\n  let bottom = 1u;' : '  let top = first(o_row, dim(1u), dim(3u));\n  let bottom = end(o_row, dim(1u), dim(3u));'}
  let left = first(o_column, dim(2u), dim(4u));
  let right = end(o_column, dim(2u), dim(4u));
${oneByOne(max, COUNTED[windows])}`,
      dims: shape.dims.slice(1),
    }, shape.dtype, dimOf(shape, 0) * dimOf(shape, 3) * dimOf(shape, 4))
  },
})

/** Windows of one plane: a row of a reduction where it is one, else by rows, by several threads each, or by a thread each. */
const adaptive = (max: boolean): Kernel => ({
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [planes, height, width, outHeight, outWidth] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2), dimOf(shape, 3), dimOf(shape, 4)]
    const sizes = [planes, height, width, outHeight, outWidth] as const
    if (outHeight * outWidth === 1) return reductions[max ? 'max' : 'mean']!.build({ ...shape, dims: [planes, height * width, 1] })
    return poolingByRows(shape, sizes, max) ?? sharedPooling(shape, sizes, max) ?? mapped({
      tensors: [{ name: 'x', at: { input: 0 } }, { name: 'out', at: 'output', write: true }],
      functions: `${adaptiveWindows('h', height, outHeight)}${adaptiveWindows('w', width, outWidth)}`,
      body: `${adaptiveWindowOf(outHeight, outWidth)}${oneByOne(max, 'f32((bottom - top) * (right - left))')}`,
      dims: [height, width],
    }, shape.dtype, planes * outHeight * outWidth)
  },
})

const kernels: Readonly<Record<string, Kernel>> = {
  max_pool1d: even('signal', true),
  avg_pool1d: even('signal', false),
  max_pool2d: even('image', true),
  avg_pool2d: even('image', false),
  adaptive_max_pool2d: adaptive(true),
  adaptive_avg_pool2d: adaptive(false),
}
export default kernels
