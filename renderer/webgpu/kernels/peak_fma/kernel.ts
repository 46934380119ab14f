import { entry, header, step, THREADS } from '../../wgsl/header'
import { dimOf, type Kernel } from '../types'

/** Steps written out per turn of the loop, so that counting turns costs next to nothing. */
const UNROLL = 8

/** Eight chains per element as two vectors of four; see core/ops/peak_fma for what is computed. Iterations are written so that no constant takes their place (wgsl/constants.ts). */
const WGSL = `${header([{ name: 'x', type: 'f32' }, { name: 'out', type: 'f32', write: true }], false)}
${entry(`  let i = group * ${THREADS}u + lane;
  if (i >= dim(0u)) { return; }
  let a = vec4<f32>(0.999);
  let b = vec4<f32>(0.001);
  var low = x[i] + vec4<f32>(0.0, 1.0, 2.0, 3.0);
  var high = x[i] + vec4<f32>(4.0, 5.0, 6.0, 7.0);
  let iterations = dim(1);
  for (var turn = 0u; turn < iterations / ${UNROLL}u; turn++) {
${'    low = fma(low, a, b); high = fma(high, a, b);\n'.repeat(UNROLL)}  }
  for (var rest = 0u; rest < iterations % ${UNROLL}u; rest++) { low = fma(low, a, b); high = fma(high, a, b); }
  out[i] = low.x + low.y + low.z + low.w + high.x + high.y + high.z + high.w;`)}`

const kernel: Kernel = {
  dtypes: ['f32'],
  build: (shape) => ({
    scratchBytes: [],
    steps: [step(WGSL, [{ input: 0 }, 'output'], [dimOf(shape, 0), dimOf(shape, 1)], Math.ceil(dimOf(shape, 0) / THREADS))],
  }),
}
export default kernel
