import { ARRIVAL_FUNCTIONS, arrivalBytes, ARRIVALS } from '../../wgsl/arrivals'
import { entry, header, numbers, step, storage, THREADS, widthFor, WORKGROUP_BYTES, working, type Width } from '../../wgsl/header'
import { exchange, reduction, sumOf } from '../../wgsl/rows'
import type { DeviceLimits, Program } from '../types'

/** Bytes of workgroup memory that a workgroup takes at most; a block where workgroups wait for each other takes what every adapter has, so that many run at once. */
const MOST_BYTES = 32 * 1024
/** Blocks of a row whose sums the threads of a later one wait for, and of all rows: those that begin later than others have ended take longer than two dispatches. */
const MOST_BLOCKS = THREADS
const MOST_WAITING = 528
/** How often a thread looks for the sum of an earlier block, several milliseconds in all, before it adds that up itself: WebGPU guarantees no progress of one workgroup while another waits. */
const MAX_POLLS = 2 ** 14
/** Rows from which on a workgroup takes the blocks of one after the other, and its threads: as many as keep a device busy. */
const FEWEST_ROWS = 132
const THREADS_OF_ROWS = [{ from: 1056, threads: THREADS }, { from: 264, threads: 512 }, { from: FEWEST_ROWS, threads: 1024 }] as const

/** How a row is cut: `blocks` of so many vectors, of which each of `threads` has `each` beside each other. Blocks of a row are `shared` by workgroups, or follow each other in one. */
export interface BlockPlan {
  width: Width
  vectors: number
  threads: number
  each: number
  blocks: number
  shared: boolean
}

/** An odd number of vectors of each thread: neighbours meet different banks. */
const odd = (n: number): number => n | 1

/** Undefined where rows are too few for their length: these take two dispatches. */
export function planBlocks(rows: number, cols: number, { threads: most = THREADS, workgroupBytes = WORKGROUP_BYTES, subgroups }: DeviceLimits): BlockPlan | undefined {
  const width = widthFor(cols)
  const vectors = cols / width
  const cut = (threads: number, bytes: number, shared: boolean): BlockPlan => {
    const exchanged = 4 * ((subgroups === undefined || shared ? 2 : 1 / 4) * threads + 8)
    const fits = Math.floor((Math.min(bytes, workgroupBytes) - exchanged) / (4 * width * threads))
    const blocks = Math.ceil(vectors / ((fits % 2 === 0 ? fits - 1 : fits) * threads))
    const each = odd(Math.ceil(vectors / blocks / threads))
    return { width, vectors, threads, each, blocks: Math.ceil(vectors / (each * threads)), shared }
  }
  const whole = cut(THREADS, MOST_BYTES, false)
  if (whole.blocks === 1) return whole
  const shared = cut(THREADS, WORKGROUP_BYTES, true)
  if (shared.blocks <= MOST_BLOCKS && rows * shared.blocks <= MOST_WAITING) return shared
  const ofRows = THREADS_OF_ROWS.find(({ from }) => rows >= from)
  return ofRows && cut(Math.min(most, ofRows.threads), MOST_BYTES, false)
}

/** WGSL of `front_of(value, lane)`, the sum of `value` of the threads in front of this one, and `whole_sum`, that of all: all threads pass. */
function fronts(threads: number, size: number | undefined): string {
  const side = size === undefined ? 16 : Math.min(size, threads)
  const before = size === undefined
    ? `  exchange[lane] = value;
  workgroupBarrier();
  if (lane % ${side}u == 0u) {
    var sum = 0.0;
    for (var i = 0u; i < ${side}u; i++) { let one = exchange[lane + i]; exchange[lane + i] = sum; sum += one; }
    tops[lane / ${side}u] = sum;
  }
  workgroupBarrier();
  let ahead = exchange[lane];`
    : `  var upto = value;
${numbers(Math.log2(side)).map((s) => `  { let other = subgroupShuffleUp(upto, ${2 ** s}u); upto += select(0.0, other, lane % ${side}u >= ${2 ** s}u); }`).join('\n')}
  if (lane % ${side}u == ${side - 1}u) { tops[lane / ${side}u] = upto; }
  workgroupBarrier();
  let ahead = upto - value;`
  return `var<workgroup> tops: array<f32, ${threads / side}>;
struct Front { before: f32, all: f32 }
fn front_of(value: f32, lane: u32) -> Front {
${before}
  var front = 0.0;
  var all = 0.0;
  for (var i = 0u; i < ${threads / side}u; i++) { if (i == lane / ${side}u) { front = all; } all += tops[i]; }
  return Front(front + ahead, all);
}
`
}

/**
 * The running sums of rows in one reading: a workgroup has a block of a row in its memory, where each thread adds up neighbours. A workgroup takes the blocks of its row one after
 * the other. Where rows are few each block has a workgroup, which leaves its sum and adds up those in front of it: blocks are numbered as they begin, so that those waited for have
 * begun before. The last to end of a row leaves zeros.
 */
export function blockSums(dtype: 'f32' | 'f16', rows: number, plan: BlockPlan, { subgroups }: DeviceLimits): Program {
  const { width, vectors, threads, each, blocks, shared } = plan
  const [type, vf] = [storage(dtype, width), working(width)]
  const held = each * threads
  const last = width === 4 ? '.w' : ''
  const sums = rows * (blocks - 1)
  const [ticket, ended] = [`${sums}u`, `${sums + 1}u`]
  const lines = (text: (e: number) => string) => numbers(each).map(text).join('\n')
  const loads = (base: string) => lines((e) => `    next_${e} = ${vf}(x[${base} + min(lane + ${e * threads}u, end - 1u)]);`)
  const place = (number: string) => `    let first = ${number} * ${held}u;
    let end = min(${held}u, ${vectors}u - first);
    let base = row * ${vectors}u + first;`
  /** The sums of a block whose vectors are on their way; `carry` is WGSL that declares what stands in front of a thread. */
  const summed = (carry: string, meanwhile = '') => `${lines((e) => `    block[lane + ${e * threads}u] = select(${vf}(0.0), next_${e}, lane + ${e * threads}u < end);`)}
    workgroupBarrier();
${meanwhile}    var sum = 0.0;
${lines((e) => `    var s_${e} = block[lane * ${each}u + ${e}u]; ${width === 4 ? `s_${e}.y += s_${e}.x; s_${e}.z += s_${e}.y; s_${e}.w += s_${e}.z; ` : ''}s_${e} += sum; sum = s_${e}${last};`)}
    let front = front_of(sum, lane);
${carry}
${lines((e) => `    block[lane * ${each}u + ${e}u] = s_${e} + carry;`)}
    workgroupBarrier();
${lines((e) => `    if (lane + ${e * threads}u < end) { out[base + lane + ${e * threads}u] = ${type}(block[lane + ${e * threads}u]); }`)}`
  const ofWorkgroups = `  if (group >= ${rows * blocks}u) { return; }
  if (lane == 0u) {
    begun = atomicAdd(&arrivals[${ticket}], 1u);
    if (begun == ${rows * blocks - 1}u) { atomicStore(&arrivals[${ticket}], 0u); }
  }
  let place = workgroupUniformLoad(&begun);
  let row = place / ${blocks}u;
  let number = place % ${blocks}u;
${place('number')}
${loads('base')}
${summed(`  if (lane == 0u && number + 1u < ${blocks}u) { leave(row * ${blocks - 1}u + number, front.all); }
  var earlier = 0.0;
  if (lane < number) {
    let at = row * ${blocks - 1}u + lane;
    var word = atomicLoad(&arrivals[at]);
    for (var tries = 0u; word == 0u && tries < ${MAX_POLLS}u; tries++) { word = atomicLoad(&arrivals[at]); }
    earlier = bitcast<f32>(~word);
    if (word == 0u) {
      var own = ${vf}(0.0);
      for (var i = 0u; i < ${held}u; i++) { own += ${vf}(x[row * ${vectors}u + lane * ${held}u + i]); }
      earlier = ${sumOf('own', width)};
    }
  }
  let carry = front.before + reduce_sum(earlier, lane);`)}
  if (is_last(${ended} + row, ${blocks}u, lane)) {
    for (var i = lane; i < ${blocks - 1}u; i += ${threads}u) { _ = awaited_word(row * ${blocks - 1}u + i, 0u); }
  }`
  const oneAfterTheOther = `  let row = min(group, ${rows - 1}u);
  var before = 0.0;
  {
${place('0u')}
${loads('base')}
  }
  for (var number = 0u; number < ${blocks}u; number++) {
${place('number')}
${summed('    let carry = before + front.before;', blocks === 1 ? '' : `    // The next block is on its way while this one is added up.
    {
${place(`min(number + 1u, ${blocks - 1}u)`)}
${loads('base')}
    }
`)}
    before += front.all;
    workgroupBarrier();
  }`
  const wgsl = `${header([{ name: 'x', type }, { name: 'out', type, write: true }, ...(shared ? [ARRIVALS] : [])], dtype === 'f16', subgroups !== undefined)}
var<workgroup> block: array<${vf}, ${held}>;
${subgroups === undefined || shared ? exchange(threads) : ''}${shared ? `${ARRIVAL_FUNCTIONS}${reduction('sum', threads, (a, b) => `${a} + ${b}`, subgroups)}var<workgroup> begun: u32;\n` : ''}${fronts(threads, subgroups)}
${entry(`${lines((e) => `  var next_${e} = ${vf}(0.0);`)}
${shared ? ofWorkgroups : oneAfterTheOther}`, threads)}`
  return { scratchBytes: shared ? [arrivalBytes(sums, 1 + rows)] : [], steps: [step(wgsl, [{ input: 0 }, 'output', ...(shared ? [{ scratch: 0 }] : [])], [], shared ? rows * blocks : rows)] }
}
