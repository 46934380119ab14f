import { numbers, THREADS } from '../../wgsl/header'
import { shuffledAhead } from '../../wgsl/rows'

/** Where sixteen threads have their base for a digit: beside those of other digits, turned so that threads that write those of a digit meet different banks as well. */
const baseAt = (sixteen: string, digit: string) => `${sixteen} * 16u + (${digit} ^ (${sixteen} / 2u % 16u))`

/** Where a kernel has its counters in workgroup memory: a byte for each thread and half digit; bases, a word for sixteen threads; totals, for a subgroup or sixteen threads. */
export interface Memory {
  threads: number
  declared: string
  /** An atomic<u32>. */
  count: (w: string) => string
  base: (w: string) => string
  total: (w: string) => string
  read: (place: string) => string
  write: (place: string, value: string) => string
}

/** Everything has its own place beside the exchange of `keys` words. */
export const apart = (keys: number, threads = THREADS): Memory => ({
  threads,
  declared: `var<workgroup> exchange: array<u32, ${keys}>;
var<workgroup> counters: array<atomic<u32>, ${4 * threads}>;
var<workgroup> bases: array<u32, ${threads}>;
`,
  count: (w) => `counters[${w}]`,
  base: (w) => `bases[${w}]`,
  total: (w) => `exchange[${w}]`,
  read: (place) => place,
  write: (place, value) => `${place} = ${value};`,
})

/** All in one array, of which keys and counters have the same words in turn. */
export const inTurn = (keys: number, threads = THREADS): Memory => ({
  threads,
  declared: `var<workgroup> memory: array<atomic<u32>, ${keys}>;
`,
  count: (w) => `memory[${w}]`,
  base: (w) => `memory[${4 * threads}u + ${w}]`,
  total: (w) => `memory[${5 * threads}u + ${w}]`,
  read: (place) => `atomicLoad(&${place})`,
  write: (place, value) => `atomicStore(&${place}, ${value});`,
})

/** Totals of subgroups: those that a thread reads one by one, and those that threads of a subgroup add up together. */
const FEW_TOTALS = 8
const MOST_TOTALS = 32
/** Whether sums over the threads are those of subgroups of at least so many. */
export const usesSubgroups = (threads: number, subgroups: number | undefined): subgroups is number => subgroups !== undefined && threads / subgroups <= MOST_TOTALS

/** Declares the memory, and `ahead_of(value, lane)`: the sum of the values of the threads before. Contains barriers. */
export function memoryText(m: Memory, subgroups?: number): string {
  if (usesSubgroups(m.threads, subgroups)) {
    const totals = m.threads / subgroups
    const before = totals > FEW_TOTALS && totals <= subgroups
      ? `  var through_totals = ${m.read(m.total(`lane % ${totals}u`))};
${shuffledAhead(totals, 'through_totals')}
  ahead += select(0u, subgroupShuffle(through_totals, max(lane / ${subgroups}u, 1u) - 1u), lane >= ${subgroups}u);`
      : numbers(totals - 1).map((j) => `  ahead += select(0u, ${m.read(m.total(`${j}u`))}, ${j}u < lane / ${subgroups}u);`).join('\n')
    return `${m.declared}fn ahead_of(value: u32, lane: u32) -> u32 {
  var through = value;
${shuffledAhead(subgroups, 'through')}
  if (lane % ${subgroups}u == ${subgroups - 1}u) { ${m.write(m.total(`lane / ${subgroups}u`), 'through')} }
  workgroupBarrier();
  var ahead = through - value;
${before}
  return ahead;
}
`
  }
  return `${m.declared}fn ahead_of(value: u32, lane: u32) -> u32 {
  ${m.write(m.base('lane'), 'value')}
  workgroupBarrier();
  var ahead = 0u;
  var all = 0u;
${numbers(16).map((j) => `  { let other = ${m.read(m.base(`(lane / 16u * 16u) + ${j}u`))}; ahead += select(0u, other, ${j}u < (lane & 15u)); all += other; }`).join('\n')}
  if ((lane & 15u) == 0u) { ${m.write(m.total('lane / 16u'), 'all')} }
  workgroupBarrier();
${numbers(m.threads / 16).map((j) => `  ahead += select(0u, ${m.read(m.total(`${j}u`))}, ${j}u < lane / 16u);`).join('\n')}
  return ahead;
}
`
}

/**
 * The places r0.. of the `held` elements that a thread has as neighbours, ordered by four bits of each, which `digit` names. Every thread counts in
 * bytes of its own; those of the digits are turned by eight words, so that threads beside each other meet different banks. Ends without a barrier: with an exchange of its own, the next access to it is a write of r0.., which no thread still reads.
 */
export function ranked(digit: (k: number) => string, m: Memory, held: number): string {
  const [words, beside] = [m.threads / 4, m.threads / 16]
  const each = (text: (k: number) => string) => numbers(held).map((k) => `  ${text(k)}`).join('\n')
  const counter = (k: number) => m.count(`d${k} * ${words}u + ((lane / 4u + d${k} * 8u) & ${words - 1}u)`)
  return `  for (var w = lane; w < ${4 * m.threads}u; w += ${m.threads}u) { atomicStore(&${m.count('w')}, 0u); }
  workgroupBarrier();
${each((k) => `let d${k} = (${digit(k)}) & 15u; let before${k} = (atomicAdd(&${counter(k)}, 1u << (lane % 4u * 8u)) >> (lane % 4u * 8u)) & 255u;`)}
  workgroupBarrier();
  var own = 0u;
  let first_word = lane / ${beside}u * ${words}u + ((lane % ${beside}u * 4u + lane / ${beside}u * 8u) & ${words - 1}u);
  for (var w = first_word; w < first_word + 4u; w++) {
    let through = atomicLoad(&${m.count('w')}) * 0x01010101u;
    atomicStore(&${m.count('w')}, (through << 8u) + own * 0x01010101u);
    own += through >> 24u;
  }
  let ahead = ahead_of(own, lane);
  ${m.write(m.base(baseAt(`(lane % ${beside}u)`, `(lane / ${beside}u)`)), 'ahead')}
  workgroupBarrier();
${each((k) => `let r${k} = ${m.read(m.base(baseAt('(lane / 16u)', `d${k}`)))} + ((atomicLoad(&${counter(k)}) >> (lane % 4u * 8u)) & 255u) + before${k};`)}`
}
