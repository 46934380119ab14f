import { step, widthFor } from '../../wgsl/header'
import { mapped } from '../../wgsl/mapped'
import { matmulText, tilesFor } from '../matmul/kernel'
import { dimOf, type Kernel, type KernelShape } from '../types'

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

/** The element of x that output `o` meets with tap `t` of the plane from `base` on; 0 in the padding. */
const element = (x: string) => `fn met(base: u32, o: u32, t: u32) -> f32 {
  let d = i32(o / (h_output * w_output) * stride + t / (h_kernel * w_kernel) * dilation) - i32(d_padding);
  let h = i32(o / w_output % h_output * stride + t / w_kernel % h_kernel * dilation) - i32(h_padding);
  let w = i32(o % w_output * stride + t % w_kernel * dilation) - i32(w_padding);
  if (d < 0 || h < 0 || w < 0 || d >= i32(d_input) || h >= i32(h_input) || w >= i32(w_input)) { return 0.0; }
  return f32(${x}[base + (u32(d) * h_input + u32(h)) * w_input + u32(w)]);
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

/** Filters of a group below which a tile of a product would stand nearly empty. */
const FEW_FILTERS = 16
/** Multiply-adds in all, and of an output, up to which a thread for each output is faster than tiles, which take longer to start. */
const TINY = 1 << 15
const SHORT = 256

/** A product of the filters with the gathered image (implicit GEMM), or one thread for each output where groups have few filters or there is hardly any work. */
const convolution: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [batch, channels, filters, groups] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2), dimOf(shape, 3)]
    const volume = (at: number) => dimOf(shape, 6 + at) * dimOf(shape, 10 + at) * dimOf(shape, 14 + at)
    const [taps, outputs] = [volume(1), volume(3)]
    const [m, k] = [filters / groups, (channels / groups) * taps]
    if (m < FEW_FILTERS || (k <= SHORT && batch * filters * outputs * k <= TINY)) {
      return mapped({
        tensors: [{ name: 'x', at: { input: 0 } }, { name: 'weight', at: { input: 1 } }, { name: 'out', at: 'output', write: true }],
        functions: `${constants(shape)}${element('x')}`,
        body: `  let f = i / outputs % filters;
  let first = (i / outputs / filters * channels + f / (filters / groups) * per_group) * plane;
  var sum = 0.0;
  for (var c = 0u; c < per_group; c++) {
    for (var t = 0u; t < taps; t++) { sum = fma(met(first + c * plane, i % outputs, t), f32(weight[(f * per_group + c) * taps + t]), sum); }
  }
  out[i] = own(sum);`,
      }, shape.dtype, batch * filters * outputs)
    }
    const { tile, tilesM, tilesN } = tilesFor(batch * groups, m, outputs)
    const wgsl = matmulText({
      dtype: shape.dtype === 'f16' ? 'f16' : 'f32', transA: false, transB: false, widthA: widthFor(k), widthB: 1, widthOut: widthFor(outputs), tile,
      gathered: { loadB: `${constants(shape)}${element('b')}${LOAD_B}`, baseA: 'batch_number % groups * m * k' },
    })
    return { scratchBytes: [], steps: [step(wgsl, [{ input: 1 }, { input: 0 }, 'output'], [m, outputs, k, tilesM, tilesN, batch * groups], batch * groups * tilesM * tilesN)] }
  },
}

const kernels: Readonly<Record<string, Kernel>> = { conv1d: convolution, conv2d: convolution, conv3d: convolution }
export default kernels
