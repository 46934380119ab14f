import type { Binding } from './header'

/**
 * Partial results of workgroups that the last of them joins, all in one dispatch: a second one costs several microseconds. WGSL orders no
 * writes of different workgroups, so a counter decides only which workgroup joins, and that one waits for each partial result itself. A
 * result is stored so that it is never 0; whoever joins leaves zeros, as in new scratch space. One scratch buffer holds the results and,
 * behind them, the counters.
 */
export const ARRIVALS: Binding = { name: 'arrivals', type: 'atomic<u32>', write: true }

/** Bytes of the scratch buffer for so many partial results and counters. */
export const arrivalBytes = (results: number, counters: number): number => 4 * (results + counters)

/** Partial results that a thread waits for together. */
const AT_ONCE = 4
const NUMBERS = Array.from({ length: AT_ONCE }, (_, k) => k)

/** WGSL of `leave(at, value)`, `awaited(at, seen)`, the same for words other than 0xffffffff, and `is_last(counter, count, lane)` for all threads of a workgroup: whether the other `count` - 1 were here before. */
export const ARRIVAL_FUNCTIONS = `var<workgroup> last_here: u32;
fn leave_word(at: u32, word: u32) { atomicStore(&arrivals[at], max(~word, 1u)); }
fn leave(at: u32, value: f32) { leave_word(at, bitcast<u32>(value)); }
fn awaited_word(at: u32, seen: u32) -> u32 {
  var code = seen;
  while (code == 0u) { code = atomicLoad(&arrivals[at]); }
  atomicStore(&arrivals[at], 0u);
  return ~code;
}
fn awaited(at: u32, seen: u32) -> f32 { return bitcast<f32>(awaited_word(at, seen)); }
fn is_last(counter: u32, count: u32, lane: u32) -> bool {
  if (lane == 0u) {
    let is_whole = atomicAdd(&arrivals[counter], 1u) + 1u == count;
    if (is_whole) { atomicStore(&arrivals[counter], 0u); }
    last_here = select(0u, 1u, is_whole);
  }
  return workgroupUniformLoad(&last_here) != 0u;
}
`

/**
 * WGSL that calls `use` on each word of the partial results, an expression that waits for it, with the numbers `first` to before `count`, `stride` apart; word `j` of
 * number `i` lies at `at(i, j)`. Several loads are on their way at once.
 */
export function eachArrival(first: string, count: string, stride: string, at: (i: string, j: number) => string, use: (value: string, j: number) => string, { words = 1, awaited = 'awaited' } = {}): string {
  const place = (k: number) => (k === 0 ? 'i' : `i + ${k}u * ${stride}`)
  const lines = (text: (k: number, j: number) => string) => NUMBERS.flatMap((k) => Array.from({ length: words }, (_, j) => text(k, j))).join('\n')
  return `    for (var i = ${first}; i < ${count}; i += ${AT_ONCE}u * ${stride}) {
${lines((k, j) => `      let seen_${k}_${j} = atomicLoad(&arrivals[${at(k === 0 ? 'i' : `min(${place(k)}, ${count} - 1u)`, j)}]);`)}
${lines((k, j) => `      ${k === 0 ? '' : `if (${place(k)} < ${count}) `}{ ${use(`${awaited}(${at(place(k), j)}, seen_${k}_${j})`, j)} }`)}
    }`
}
