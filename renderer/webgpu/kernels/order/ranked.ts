import { THREADS } from '../../wgsl/header'
import { numbers } from './keys'

/** Where sixteen threads have their base for a digit: beside those of other digits, turned so that threads that write those of a digit meet different banks as well. */
const baseAt = (sixteen: string, digit: string) => `${sixteen} * 16u + (${digit} ^ (${sixteen} / 2u))`

/** Where a kernel has its counters in workgroup memory: a byte for each thread and half digit; bases, a word for sixteen threads; totals, for 256. */
export interface Memory {
  declared: string
  /** An atomic<u32>. */
  count: (w: string) => string
  base: (w: string) => string
  total: (w: string) => string
  read: (place: string) => string
  write: (place: string, value: string) => string
}

/** Everything has its own place beside the exchange of `keys` words. */
export const apart = (keys: number): Memory => ({
  declared: `var<workgroup> exchange: array<u32, ${keys}>;
var<workgroup> counters: array<atomic<u32>, ${4 * THREADS}>;
var<workgroup> bases: array<u32, ${THREADS}>;
`,
  count: (w) => `counters[${w}]`,
  base: (w) => `bases[${w}]`,
  total: (w) => `exchange[${w}]`,
  read: (place) => place,
  write: (place, value) => `${place} = ${value};`,
})

/** All in one array, of which keys and counters have the same words in turn. */
export const inTurn = (keys: number): Memory => ({
  declared: `var<workgroup> memory: array<atomic<u32>, ${keys}>;
`,
  count: (w) => `memory[${w}]`,
  base: (w) => `memory[${4 * THREADS}u + ${w}]`,
  total: (w) => `memory[${5 * THREADS}u + ${w}]`,
  read: (place) => `atomicLoad(&${place})`,
  write: (place, value) => `atomicStore(&${place}, ${value});`,
})

/** Declares the memory, and `ahead_of(value, lane)`: the sum of the values of the threads before. */
export const memoryText = (m: Memory): string => `${m.declared}fn ahead_of(value: u32, lane: u32) -> u32 {
  ${m.write(m.base('lane'), 'value')}
  workgroupBarrier();
  var ahead = 0u;
  var all = 0u;
${numbers(16).map((j) => `  { let other = ${m.read(m.base(`(lane & 240u) + ${j}u`))}; ahead += select(0u, other, ${j}u < (lane & 15u)); all += other; }`).join('\n')}
  if ((lane & 15u) == 0u) { ${m.write(m.total('lane / 16u'), 'all')} }
  workgroupBarrier();
${numbers(16).map((j) => `  ahead += select(0u, ${m.read(m.total(`${j}u`))}, ${j}u < lane / 16u);`).join('\n')}
  return ahead;
}
`

/**
 * The places r0.. of the `held` elements that a thread has as neighbours, ordered by four bits of each, which `digit` names. Every thread counts in
 * bytes of its own; those of the digits are turned by eight words, so that threads beside each other meet different banks. Ends without a barrier: with an exchange of its own, the next access to it is a write of r0.., which no thread still reads.
 */
export function ranked(digit: (k: number) => string, m: Memory, held: number): string {
  const each = (text: (k: number) => string) => numbers(held).map((k) => `  ${text(k)}`).join('\n')
  const counter = (k: number) => m.count(`d${k} * 64u + ((lane / 4u + d${k} * 8u) & 63u)`)
  return `  for (var w = lane; w < ${4 * THREADS}u; w += ${THREADS}u) { atomicStore(&${m.count('w')}, 0u); }
  workgroupBarrier();
${each((k) => `let d${k} = (${digit(k)}) & 15u; let before${k} = (atomicAdd(&${counter(k)}, 1u << (lane % 4u * 8u)) >> (lane % 4u * 8u)) & 255u;`)}
  workgroupBarrier();
  var own = 0u;
  let first_word = lane / 16u * 64u + ((lane % 16u * 4u + lane / 16u * 8u) & 63u);
  for (var w = first_word; w < first_word + 4u; w++) {
    let through = atomicLoad(&${m.count('w')}) * 0x01010101u;
    atomicStore(&${m.count('w')}, (through << 8u) + own * 0x01010101u);
    own += through >> 24u;
  }
  let ahead = ahead_of(own, lane);
  ${m.write(m.base(baseAt('(lane % 16u)', '(lane / 16u)')), 'ahead')}
  workgroupBarrier();
${each((k) => `let r${k} = ${m.read(m.base(baseAt('(lane / 16u)', `d${k}`)))} + ((atomicLoad(&${counter(k)}) >> (lane % 4u * 8u)) & 255u) + before${k};`)}`
}
