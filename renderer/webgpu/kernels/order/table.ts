import { entry, header, step, storage, THREADS } from '../../wgsl/header'
import { mapped } from '../../wgsl/mapped'
import { powerOfTwoFrom } from '../../wgsl/rows'
import { dimOf, type BufferName, type Kernel, type KernelShape, type Program, type Step } from '../types'

/** Pairs of value and index that fit the 16 KiB of workgroup memory that every adapter has. */
const BLOCK = 2048

/** Whether pair a stands in front of pair b: by value, equal ones by index. Padding has index `cols` and more, and stands last. */
const before = (descending: boolean) => `fn before(a: vec2<u32>, b: vec2<u32>) -> bool {
  let padding = a.y >= dim(1u) || b.y >= dim(1u);
  let u = bitcast<f32>(a.x);
  let v = bitcast<f32>(b.x);
  return select(select(u ${descending ? '>' : '<'} v, a.y < b.y, u == v), a.y < b.y, padding);
}
`

/** One compare of the network for thread `t`: partners `reach` apart inside runs of `run`, which all end ascending in the sense of \`before\` (Batcher 1968, the mirrored form). */
const PARTNERS = (run: string, reach: string) => `let low = t / ${reach} * 2u * ${reach} + t % ${reach};
      let high = select(low + ${reach}, low - low % ${run} + ${run} - 1u - low % ${run}, 2u * ${reach} == ${run});`

const swap = (memory: string) => `let a = ${memory}[low]; let b = ${memory}[high]; if (before(b, a)) { ${memory}[low] = b; ${memory}[high] = a; }`

/**
 * Sorts a block of pairs up to runs of a row, or with `merge` does the last short reaches of runs that are longer than a block.
 * Short rows lie several to a block. rows, cols and the padded length are dims.
 */
const blocks = (descending: boolean, merge: boolean) => `${header([{ name: 'pairs', type: 'vec2<u32>', write: true }], false)}${before(descending)}
var<workgroup> block: array<vec2<u32>, ${BLOCK}>;
fn compare(run: u32, reach: u32, lane: u32) {
  for (var t = lane; t < ${BLOCK / 2}u; t += ${THREADS}u) {
      ${PARTNERS('run', 'reach')}
      ${swap('block')}
  }
  workgroupBarrier();
}
${entry(`  let base = group * ${BLOCK}u;
  let all = dim(0u) * dim(2u);
  for (var t = lane; t < ${BLOCK}u; t += ${THREADS}u) { if (base + t < all) { block[t] = pairs[base + t]; } }
  workgroupBarrier();
  ${merge
    ? `for (var reach = ${BLOCK / 2}u; reach > 0u; reach /= 2u) { compare(${2 * BLOCK}u, reach, lane); }`
    : `for (var run = 2u; run <= min(dim(2u), ${BLOCK}u); run *= 2u) { for (var reach = run / 2u; reach > 0u; reach /= 2u) { compare(run, reach, lane); } }`}
  for (var t = lane; t < ${BLOCK}u; t += ${THREADS}u) { if (base + t < all) { pairs[base + t] = block[t]; } }`)}`

/** One reach of the network over pairs in memory. */
const far = (descending: boolean) => `${header([{ name: 'pairs', type: 'vec2<u32>', write: true }], false)}${before(descending)}
${entry(`  let t = group * ${THREADS}u + lane;
  let run = dim(3u);
  let reach = dim(4u);
  if (t >= dim(0u) * dim(2u) / 2u) { return; }
      ${PARTNERS('run', 'reach')}
  ${swap('pairs')}`)}`

/** Each row of x as pairs, padded to a power of two, sorted in scratch 0; `first` of each row are written. */
function sorted(shape: KernelShape, descending: boolean, first: number): Program {
  const [rows, cols] = [dimOf(shape, 0), dimOf(shape, 1)]
  const padded = Math.max(2, powerOfTwoFrom(cols))
  const pairs: BufferName = { scratch: 0 }
  const dims = [rows, cols, padded]
  const type = storage(shape.dtype, 1)
  const f16 = shape.dtype === 'f16'
  const gather = `${header([{ name: 'x', type }, { name: 'pairs', type: 'vec2<u32>', write: true }], f16)}
${entry(`  let i = group * ${THREADS}u + lane;
  if (i >= dim(0u) * dim(2u)) { return; }
  let column = i % dim(2u);
  pairs[i] = vec2<u32>(bitcast<u32>(f32(x[i / dim(2u) * dim(1u) + min(column, dim(1u) - 1u)])), column);`)}`
  const all = rows * padded
  const steps: Step[] = [step(gather, [{ input: 0 }, pairs], dims, Math.ceil(all / THREADS)), step(blocks(descending, false), [pairs], dims, Math.ceil(all / BLOCK))]
  for (let run = 2 * BLOCK; run <= padded; run *= 2) {
    for (let reach = run / 2; reach >= BLOCK; reach /= 2) steps.push(step(far(descending), [pairs], [...dims, run, reach], Math.ceil(all / 2 / THREADS)))
    steps.push(step(blocks(descending, true), [pairs], dims, all / BLOCK))
  }
  const spread = mapped({
    tensors: [{ name: 'pairs', at: pairs, type: 'pair' }, { name: 'values', at: 'output', write: true }, { name: 'places', at: { output: 1 }, type: 'i32', write: true }],
    body: '  let pair = pairs[i / dim(1u) * dim(2u) + i % dim(1u)];\n  values[i] = own(bitcast<f32>(pair.x));\n  places[i] = i32(pair.y);',
    dims: [first, padded],
  }, shape.dtype, rows * first)
  return { scratchBytes: [8 * all], steps: [...steps, ...spread.steps] }
}

const kernels: Readonly<Record<string, Kernel>> = {
  sort: { dtypes: ['f32', 'f16'], build: (shape) => sorted(shape, dimOf(shape, 2) === 1, dimOf(shape, 1)) },
  topk: { dtypes: ['f32', 'f16'], build: (shape) => sorted(shape, true, dimOf(shape, 2)) },
}
export default kernels
