import { mapped, numbersOf } from '../../wgsl/mapped'
import reductions from '../reduction/table'
import { dimOf, type Kernel, type KernelShape, type Program } from '../types'
import { poolingByColumns } from './by-columns'
import { poolingByRows } from './by-rows'
import { poolingNarrow } from './narrow'
import { sharedEven, sharedPooling } from './shared'
import { widePooling, type EvenWindows } from './wide'
import { adaptiveWindowOf, adaptiveWindows } from './windows'

/** First and end of output `o`'s window along an axis of `size` with `outputs` outputs; kernel, stride and padding are dims 5 to 7. */
const EVEN = `fn first(o: u32, size: u32, outputs: u32) -> u32 { return u32(max(i32(o * dim(6u)) - i32(dim(7u)), 0)); }
fn end(o: u32, size: u32, outputs: u32) -> u32 { return u32(min(i32(o * dim(6u) + dim(5u)) - i32(dim(7u)), i32(size))); }
`

/** Elements that a mean divides by: the whole kernel, padding included. */
const COUNTED = { signal: 'f32(dim(5u))', image: 'f32(dim(5u) * dim(5u))' } as const

/** Most elements of a window that are read one by one, all on their way at once, also of those of a signal, and those of which a thread takes several windows. */
const MOST_UNROLLED = 9
const MOST_OF_SIGNAL = 64
const FEW_TAPS = 5

function evenOf(shape: KernelShape, windows: 'signal' | 'image'): EvenWindows {
  const [planes, height, width, outHeight, outWidth, kernel, stride, padding] = Array.from({ length: 8 }, (_, i) => dimOf(shape, i)) as [number, number, number, number, number, number, number, number]
  return { planes, height, width, outHeight, outWidth, kernel, stride, padding, signal: windows === 'signal' }
}

/** The even windows of one case with its sizes as constants: divisions by them are multiplications, and the reads of a window do not wait for each other. */
function unrolled(shape: KernelShape, windows: 'signal' | 'image', max: boolean): Program {
  const { planes, height, width, outHeight, outWidth, kernel, stride, padding } = evenOf(shape, windows)
  const vectors = widePooling(shape, evenOf(shape, windows), max)
  if (vectors) return vectors
  const [tall, wide] = [windows === 'signal' ? 1 : kernel, kernel]
  const taps = Array.from({ length: tall * wide }, (_, i) => [Math.floor(i / wide), i % wide] as const)
  const neutral = max ? '-3.4028234663852886e38' : '0.0'
  const join = (a: string, b: string) => (max ? `max(${a}, ${b})` : `${a} + ${b}`)
  const { each, place, at, store, threads } = numbersOf(planes * outHeight * outWidth, shape.dtype === 'f32' && taps.length <= FEW_TAPS)
  const element = (u: number, r: number, c: number) => `  let v_${u}_${r * wide + c} = f32(x[base_${u} + u32(top_${u} + ${r}) * ${width}u + u32(left_${u} + ${c})]);`
  const loads = (u: number) => taps.map(([r, c], t) => padding === 0 ? element(u, r, c) : `  let r_${u}_${t} = top_${u} + ${r}; let c_${u}_${t} = left_${u} + ${c}; let in_${u}_${t} = r_${u}_${t} >= 0 && c_${u}_${t} >= 0 && r_${u}_${t} < ${height} && c_${u}_${t} < ${width};
  let v_${u}_${t} = select(${neutral}, f32(x[base_${u} + u32(clamp(r_${u}_${t}, 0, ${height - 1})) * ${width}u + u32(clamp(c_${u}_${t}, 0, ${width - 1}))]), in_${u}_${t});`).join('\n')
  const joined = (u: number) => `  var value_${u} = v_${u}_0;
${taps.slice(1).map((_, t) => `  value_${u} = ${join(`value_${u}`, `v_${u}_${t + 1}`)};`).join('\n')}
${store(u, 'out', `own(${max ? `value_${u}` : `value_${u} / ${kernel ** (windows === 'signal' ? 1 : 2)}.0`})`)}`
  return mapped({
    tensors: [{ name: 'x', at: { input: 0 } }, { name: 'out', at: 'output', write: true }],
    body: `${place}
${each((u) => `  let top_${u} = ${windows === 'signal' ? '0' : `i32(${at(u)} / ${outWidth}u % ${outHeight}u * ${stride}u) - ${padding}`};
  let left_${u} = i32(${at(u)} % ${outWidth}u * ${stride}u) - ${padding};
  let base_${u} = ${at(u)} / ${outWidth * outHeight}u * ${height * width}u;`)}
${each(loads)}
${each(joined)}`,
  }, shape.dtype, threads)
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
    const narrow = poolingNarrow(shape, evenOf(shape, windows), max)
    if (narrow) return narrow
    const byColumns = poolingByColumns(shape, evenOf(shape, windows), max)
    if (byColumns) return byColumns
    if (windows === 'signal' && dimOf(shape, 5) <= MOST_OF_SIGNAL) return unrolled(shape, windows, max)
    const shared = windows === 'signal' ? undefined : sharedEven(shape, evenOf(shape, windows), max)
    if (shared) return shared
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
