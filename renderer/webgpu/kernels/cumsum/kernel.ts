import { entry, header, step, storage, THREADS } from '../../wgsl/header'
import { mapped } from '../../wgsl/mapped'
import { dimOf, type Kernel } from '../types'

/** Neighbouring elements that a thread adds up by itself. */
const EACH = 8
const CHUNK = THREADS * EACH
/** Rows up to this length take a thread each. */
const SHORT = 32
/** Workgroups that fill any device known here. */
const ENOUGH_GROUPS = 1024

/** Sums of the threads in front of each one, and of all (Hillis & Steele 1986). */
const SCAN = `var<workgroup> sums: array<f32, ${THREADS}>;
fn scan(value: f32, lane: u32) -> vec2<f32> {
  sums[lane] = value;
  workgroupBarrier();
  for (var reach = 1u; reach < ${THREADS}u; reach *= 2u) {
    var more = 0.0;
    if (lane >= reach) { more = sums[lane - reach]; }
    workgroupBarrier();
    sums[lane] += more;
    workgroupBarrier();
  }
  let all = vec2<f32>(sums[lane] - value, sums[${THREADS - 1}]);
  workgroupBarrier();
  return all;
}
`

/** A part of a row: rows, length, parts of a row, and their length in elements are dims 0 to 3. */
const PLACE = `  let row = group / dim(2u);
  let part = group % dim(2u);
  let live = row < dim(0u);
  let base = row * dim(1u);
  let begin = part * dim(3u);
  let end = select(0u, min(begin + dim(3u), dim(1u)), live);`

const totals = (dtype: 'f32' | 'f16') => `${header([{ name: 'x', type: storage(dtype, 1) }, { name: 'totals', type: 'f32', write: true }], dtype === 'f16')}${SCAN}
${entry(`${PLACE}
  var sum = 0.0;
  for (var i = begin + lane; i < end; i += ${THREADS}u) { sum += f32(x[base + i]); }
  let all = scan(sum, lane);
  if (live && lane == 0u) { totals[group] = all.y; }`)}`

const sums = (dtype: 'f32' | 'f16', split: boolean) => `${header([{ name: 'x', type: storage(dtype, 1) }, ...(split ? [{ name: 'totals', type: 'f32' }] : []), { name: 'out', type: storage(dtype, 1), write: true }], dtype === 'f16')}${SCAN}
${entry(`${PLACE}
  var carry = 0.0;
${split ? '  for (var i = 0u; i < part; i++) { carry += totals[row * dim(2u) + i]; }' : ''}
  for (var chunk = 0u; chunk < dim(3u); chunk += ${CHUNK}u) {
    let first = begin + chunk + lane * ${EACH}u;
    var own: array<f32, ${EACH}>;
    var sum = 0.0;
    for (var k = 0u; k < ${EACH}u; k++) {
      if (first + k < end) { sum += f32(x[base + first + k]); }
      own[k] = sum;
    }
    let all = scan(sum, lane);
    for (var k = 0u; k < ${EACH}u; k++) {
      if (first + k < end) { out[base + first + k] = ${storage(dtype, 1)}(carry + all.x + own[k]); }
    }
    carry += all.y;
  }`)}`

const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    const [rows, cols] = [dimOf(shape, 0), dimOf(shape, 1)]
    const dtype = shape.dtype === 'f16' ? 'f16' : 'f32'
    if (cols <= SHORT) return mapped({ tensors: [{ name: 'x', at: { input: 0 } }, { name: 'out', at: 'output', write: true }], body: '  var sum = 0.0;\n  for (var k = i * dim(1u); k < (i + 1u) * dim(1u); k++) { sum += f32(x[k]); out[k] = own(sum); }', dims: [cols] }, dtype, rows)
    const parts = Math.max(1, Math.min(Math.ceil(cols / CHUNK), Math.floor(ENOUGH_GROUPS / rows), THREADS))
    const dims = [rows, cols, parts, Math.ceil(cols / parts)]
    if (parts === 1) return { scratchBytes: [], steps: [step(sums(dtype, false), [{ input: 0 }, 'output'], dims, rows)] }
    return {
      scratchBytes: [4 * rows * parts],
      steps: [step(totals(dtype), [{ input: 0 }, { scratch: 0 }], dims, rows * parts), step(sums(dtype, true), [{ input: 0 }, { scratch: 0 }, 'output'], dims, rows * parts)],
    }
  },
}
export default kernel
