import { entry, header, step, THREADS } from '../../wgsl/header'
import { dimOf, type Kernel } from '../types'

/** Steps written out per turn of the loop, as in the CUDA kernel: so many that a turn's branch is under 2 % of it. */
const UNROLL = 256
/** What is left over is taken by halves: a loop of single steps would take several times as long for each of them. */
const REST = [128, 64, 32, 16, 8, 4, 2, 1]

const steps = (count: number) => '    y = fma(y, a, b);\n'.repeat(count)

/** See core/ops/spin for what is computed. Iterations are written so that no constant takes their place (wgsl/constants.ts). */
const WGSL = `${header([{ name: 'x', type: 'f32' }, { name: 'out', type: 'f32', write: true }], false)}
${entry(`  let i = group * ${THREADS}u + lane;
  if (i >= dim(0u)) { return; }
  let a = 0.999f;
  let b = 0.001f;
  var y = x[i];
  let iterations = dim(1);
  for (var turn = 0u; turn < iterations / ${UNROLL}u; turn++) {
${steps(UNROLL)}  }
${REST.map((count) => `  if ((iterations & ${count}u) != 0u) {\n${steps(count)}  }\n`).join('')}  out[i] = y;`)}`

const kernel: Kernel = {
  dtypes: ['f32'],
  build: (shape) => ({
    scratchBytes: [],
    steps: [step(WGSL, [{ input: 0 }, 'output'], [dimOf(shape, 0), dimOf(shape, 1)], Math.ceil(dimOf(shape, 0) / THREADS))],
  }),
}
export default kernel
