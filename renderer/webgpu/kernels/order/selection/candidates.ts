import { numbers, THREADS, type Width } from '../../../wgsl/header'
import { memoryText, type Memory } from '../ranked'

/** Digits from the highest: how far each is shifted, and its bits. */
export const DIGITS = [{ shift: 21, bits: 11 }, { shift: 10, bits: 11 }, { shift: 0, bits: 10 }] as const
/** Counts of a digit; or words of a bit for each element of a stretch of a row. */
export const BINS = 2 ** DIGITS[0].bits
export const DIGIT_BITS = Math.log2(BINS)
/** Elements of a row that are listed together, and candidates that are written together, which have half of the memory. */
const STRETCH = 32 * BINS
const WRITTEN = STRETCH / 2
/** Candidates whose keys and places fit where the counts were. */
export const KEPT = BINS / 2
/** Single elements, vectors or candidates of a thread that are on their way together. */
const TOGETHER = { 1: 8, 4: 4 } as const

const sumsOf = (threads: number): Memory => ({
  threads,
  declared: `var<workgroup> sums: array<u32, ${threads}>;\nvar<workgroup> tops: array<u32, ${Math.max(32, threads / 16)}>;\n`,
  count: (w) => `bins[${w}]`,
  base: (w) => `sums[${w}]`,
  total: (w) => `tops[${w}]`,
  read: (place) => place,
  write: (place, value) => `${place} = ${value};`,
})

/** Declares `clear(lane)` of all bins, `ahead_of`, and `find(first, before, lane)`: the bin where counts reach `first`, how many are in front of it and how many up to its end. */
export function candidateMemory(threads: number, subgroups: number | undefined): string {
  const own = numbers(BINS / threads)
  return `var<workgroup> bins: array<atomic<u32>, ${BINS}>;
var<workgroup> found: vec3<u32>;
${memoryText(sumsOf(threads), subgroups)}fn clear(lane: u32) {
  workgroupBarrier();
  for (var w = lane; w < ${BINS}u; w += ${threads}u) { atomicStore(&bins[w], 0u); }
  workgroupBarrier();
}
fn find(first: u32, before: u32, lane: u32) -> vec3<u32> {
  workgroupBarrier();
${own.map((k) => `  let c${k} = atomicLoad(&bins[lane * ${own.length}u + ${k}u]);`).join('\n')}
  var ahead = before + ahead_of(${own.map((k) => `c${k}`).join(' + ')}, lane);
${own.map((k) => `  if (ahead < first && ahead + c${k} >= first) { found = vec3<u32>(lane * ${own.length}u + ${k}u, ahead, ahead + c${k}); }\n  ahead += c${k};`).join('\n')}
  return workgroupUniformLoad(&found);
}
`
}

/** WGSL that calls `use` on each key of `begin` up to `end`, its place in the row, which begins at `base`. */
export function eachKey(width: Width, threads: number, begin: string, end: string, use: (key: string, place: string) => string): string {
  const together = numbers(TOGETHER[width])
  const sides = width === 4 ? ['.x', '.y', '.z', '.w'] : ['']
  const at = (u: number) => `i + ${u * width * threads}u`
  return `    for (var i = ${begin} + ${width === 4 ? '4u * lane' : 'lane'}; i < ${end}; i += ${together.length * width * threads}u) {
${together.map((u) => `      let read_${u} = x[(base + min(${at(u)}, ${end} - ${width}u))${width === 4 ? ' / 4u' : ''}];`).join('\n')}
${together.map((u) => `      if (${at(u)} < ${end}) {\n${sides.map((side, j) => `        { let key = key_of(f32(read_${u}${side})); ${use('key', `(i + ${u * width * threads + j}u)`)} }`).join('\n')}\n      }`).join('\n')}
    }
`
}

/**
 * Lists the places of `begin` up to `end` whose keys' digits above `shift` are `prefix` at most, in order, from `list_at` on, and then their keys;
 * `count` is how many. `longest` elements at most. Threads for which `mayHave` is false have none.
 */
export function listing(width: Width, threads: number, longest: number, mayHave = 'true'): string {
  const own = numbers(Math.ceil(Math.ceil(Math.min(STRETCH, longest) / 32) / threads))
  return `  var count = 0u;
  for (var start = begin; start < end; start += ${STRETCH}u) {
    let stop = min(start + ${STRETCH}u, end);
    clear(lane);
    if (${mayHave}) {
${eachKey(width, threads, 'start', 'stop', (key, place) => `if ((${key} >> shift) <= prefix) { let off = ${place} - start; atomicOr(&bins[off / 32u], 1u << (off % 32u)); }`)}    }
    workgroupBarrier();
${own.map((k) => `    var bits_${k} = atomicLoad(&bins[lane * ${own.length}u + ${k}u]);`).join('\n')}
    var at = count + ahead_of(${own.map((k) => `countOneBits(bits_${k})`).join(' + ')}, lane);
${own.map((k) => `    while (bits_${k} != 0u) { list_places[list_at + at] = start + (lane * ${own.length}u + ${k}u) * 32u + firstTrailingBit(bits_${k}); bits_${k} &= bits_${k} - 1u; at++; }`).join('\n')}
    if (lane == ${threads - 1}u) { found.x = at; }
    count = workgroupUniformLoad(&found).x;
  }
  storageBarrier();
${eachCandidate(threads, (c) => `list_keys[list_at + ${c}] = key_of(f32(x[${width === 4 ? `(base + place) / 4u][place % 4u` : 'base + place'}]));`, ['place'])}  storageBarrier();
`
}

/** WGSL that calls `use` on each of `count` candidates, whose `key` or `place` it may read. */
function eachCandidate(threads: number, use: (c: string) => string, reads: readonly ('key' | 'place')[]): string {
  const together = numbers(TOGETHER[4])
  const at = (u: number) => `c + ${u * threads}u`
  return `  for (var c = lane; c < count; c += ${together.length * threads}u) {
${together.flatMap((u) => reads.map((name) => `    let ${name}_${u} = list_${name}s[list_at + min(${at(u)}, count - 1u)];`)).join('\n')}
${together.map((u) => `    if (${at(u)} < count) { ${reads.map((name) => `let ${name} = ${name}_${u};`).join(' ')} ${use(`(${at(u)})`)} }`).join('\n')}
  }
`
}

/**
 * Narrows `count` candidates down: digits of their keys below `shift`, and where keys are equal of their places, are counted until no more than `most` of them are up to `prefix`: at least as many as `first`.
 * `ahead` are in front of it, `upto` up to its end.
 */
function narrowing(threads: number, length: number, most: number): string {
  const narrowed = (shift: string, prefix: string, digits: string, isEqual: string, reads: readonly ('key' | 'place')[]) => `    let bits = min(${shift}, ${DIGIT_BITS}u);
    let next = ${shift} - bits;
    clear(lane);
${eachCandidate(threads, () => `if (${isEqual}) { atomicAdd(&bins[(${digits} >> next) & ((1u << bits) - 1u)], 1u); }`, reads)}    let state = find(first, ahead, lane);
    ${prefix} = (${prefix} << bits) | state.x;
    ahead = state.y;
    upto = state.z;
    ${shift} = next;`
  return `  while (upto > ${most}u && shift > 0u) {
${narrowed('shift', 'prefix', 'key', 'shift == 32u || (key >> (shift & 31u)) == prefix', ['key'])}
  }
  var place_shift = ${Math.ceil(Math.log2(length))}u;
  var place_prefix = 0u;
  while (upto > ${most}u) {
${narrowed('place_shift', 'place_prefix', 'place', 'key == prefix && (place >> place_shift) == place_prefix', ['key', 'place'])}
  }
`
}

/** Whether a candidate with `key` and `place` is left. Of candidates that were not narrowed down at all, all are. */
const IS_LEFT = 'shift == 32u || (key >> (shift & 31u)) < prefix || ((key >> (shift & 31u)) == prefix && (place >> place_shift) <= place_prefix)'

/** Of `count` candidates, which are in the order of their places, the first in the order of their keys, still in that of their places: `written` is called on the place in that order, the key and the place of each. */
export function refining(threads: number, length: number, first: number, written: (rank: string, key: string, place: string) => string): string {
  const own = numbers(WRITTEN / 32 / threads)
  return `${narrowing(threads, length, first)}  let all = count;
  var done = 0u;
  for (var start = 0u; start < all; start += ${WRITTEN}u) {
    let stop = min(start + ${WRITTEN}u, all);
    clear(lane);
    for (var c = start + lane; c < stop; c += ${threads}u) {
      let key = list_keys[list_at + c];
      let place = list_places[list_at + c];
      if (${IS_LEFT}) { atomicOr(&bins[(c - start) / 32u], 1u << (c % 32u)); }
    }
    workgroupBarrier();
${own.map((k) => `    let n_${k} = countOneBits(atomicLoad(&bins[lane * ${own.length}u + ${k}u]));`).join('\n')}
    var ahead_here = done + ahead_of(${own.map((k) => `n_${k}`).join(' + ')}, lane);
${own.map((k) => `    atomicStore(&bins[${BINS / 2}u + lane * ${own.length}u + ${k}u], ahead_here); ahead_here += n_${k};`).join('\n')}
    if (lane == ${threads - 1}u) { found.x = ahead_here; }
    done = workgroupUniformLoad(&found).x;
    for (var c = start + lane; c < stop; c += ${threads}u) {
      let off = c - start;
      let word = atomicLoad(&bins[off / 32u]);
      if ((word & (1u << (off % 32u))) != 0u) {
        let rank = atomicLoad(&bins[${BINS / 2}u + off / 32u]) + countOneBits(word & ((1u << (off % 32u)) - 1u));
        ${written('rank', 'list_keys[list_at + c]', 'list_places[list_at + c]')}
      }
    }
  }
`
}

/** What an entry with `refiningSorted` declares. */
export const LISTED = 'var<workgroup> listed: atomic<u32>;\n'
/** No more than KEPT of `count` candidates, sorted in the memory of counts: `written` is WGSL that sees `rank`, `key` and `place` of each that is among the first. */
export const refiningSorted = (threads: number, length: number, written: string): string => `${narrowing(threads, length, KEPT)}  if (lane == 0u) { atomicStore(&listed, 0u); }
  workgroupBarrier();
${eachCandidate(threads, () => `if (${IS_LEFT}) { let at = atomicAdd(&listed, 1u); atomicStore(&bins[at], key); atomicStore(&bins[${KEPT}u + at], place); }`, ['key', 'place'])}  workgroupBarrier();
  count = upto;
${sortedCandidates(threads, written)}
`

/** `count` candidates in the memory of counts, keys in front of places, sorted by a network (Batcher 1968) of as many pairs as there are, behind which stand those that come last. */
export const sortedCandidates = (threads: number, written: string): string => `  var size = 2u;
  while (size < count) { size *= 2u; }
  for (var i = count + lane; i < size; i += ${threads}u) { atomicStore(&bins[i], 0xffffffffu); atomicStore(&bins[${KEPT}u + i], 0xffffffffu); }
  workgroupBarrier();
  for (var run = 2u; run <= size; run *= 2u) {
    for (var stride = run / 2u; stride > 0u; stride /= 2u) {
      for (var pair = lane; pair < size / 2u; pair += ${threads}u) {
        let i = 2u * pair - (pair & (stride - 1u));
        let j = i + stride;
        let a = vec2<u32>(atomicLoad(&bins[i]), atomicLoad(&bins[${KEPT}u + i]));
        let b = vec2<u32>(atomicLoad(&bins[j]), atomicLoad(&bins[${KEPT}u + j]));
        if ((b.x < a.x || (b.x == a.x && b.y < a.y)) == ((i & run) == 0u)) {
          atomicStore(&bins[i], b.x); atomicStore(&bins[${KEPT}u + i], b.y); atomicStore(&bins[j], a.x); atomicStore(&bins[${KEPT}u + j], a.y);
        }
      }
      workgroupBarrier();
    }
  }
  for (var rank = lane; rank < first; rank += ${threads}u) {
    let key = atomicLoad(&bins[rank]);
    let place = atomicLoad(&bins[${KEPT}u + rank]);
    ${written}
  }`

/** Threads of a workgroup that has a row. */
export const threadsOf = (most: number | undefined): number => Math.min(1024, most ?? THREADS)
