import type { Mode } from '../../case'
import type { Ceiling } from '../../session/types'
import { formatBandwidth, formatBytes, formatFlops, formatTime } from '../../units'

/** Implementation (an instruction set) and threads of a processor that a ceiling holds for. */
export interface ProcessorChoice {
  impl: string
  threads: number
}

/** What a ceiling limits, read from its kind (Ceiling.kind) without the choice that it holds for. */
export type CeilingKind =
  /** Copy bandwidth beyond the caches. */
  | { is: 'copy' }
  /** Bandwidth of reading alone, beyond the caches. */
  | { is: 'read' }
  /** Bandwidth of writing alone, beyond the caches. */
  | { is: 'write' }
  /** Hot copy with a working set of so many bytes, in and out together. */
  | { is: 'copy-size'; bytes: number }
  /** Bandwidth of a cache: of copies, of reading or of writing alone. */
  | { is: 'cache'; name: string; access: CacheAccess }
  | { is: 'flops'; dtype: string }
  /** What the link to another GPU of the machine carries in one direction, mean of both. */
  | { is: 'peer'; device: string }
  /** Time of a call that does next to nothing. */
  | { is: 'launch'; mode: string }
  /** Written by another version. */
  | { is: 'other' }

export type CacheAccess = 'copy' | 'read' | 'write'

/**
 * A kind without its choice, and the choice: `flops:f32@sse2/1` is `flops:f32` of one thread with SSE2. Kinds without one hold for the
 * whole device: its preferred implementation and, on a processor, all threads.
 */
export function splitKind(kind: string): { base: string; choice?: ProcessorChoice } {
  const [, base, impl, threads] = /^(.+)@([^@/]+)\/(\d+)$/.exec(kind) ?? []
  return base === undefined || impl === undefined ? { base: kind } : { base, choice: { impl, threads: Number(threads) } }
}

/** The kind for one choice on a processor. */
export const choiceKind = (base: string, { impl, threads }: ProcessorChoice): string => `${base}@${impl}/${threads}`

/** `avx2, 1 thread`. */
export const choiceTitle = ({ impl, threads }: ProcessorChoice): string => `${impl}, ${threads} ${threads === 1 ? 'thread' : 'threads'}`

/** Takes the text of a kind apart, without the choice that it may end with. */
export function ceilingKind(whole: string): CeilingKind {
  const kind = splitKind(whole).base
  const [head, tail = ''] = [kind.split(':', 1)[0], kind.includes(':') ? kind.slice(kind.indexOf(':') + 1) : '']
  if (kind === 'copy') return { is: 'copy' }
  if (kind === READ_KIND) return { is: 'read' }
  if (kind === WRITE_KIND) return { is: 'write' }
  if (head === 'copy' && Number(tail) > 0) return { is: 'copy-size', bytes: Number(tail) }
  if (head === 'cache' && tail) {
    const [name = '', access = 'copy'] = tail.split(':')
    return access === 'copy' || access === 'read' || access === 'write' ? { is: 'cache', name, access } : { is: 'other' }
  }
  if (head === 'flops' && tail) return { is: 'flops', dtype: tail }
  if (head === 'peer' && tail) return { is: 'peer', device: tail }
  if (head === 'launch' && tail) return { is: 'launch', mode: tail }
  return { is: 'other' }
}

export const READ_KIND = 'read'
export const WRITE_KIND = 'write'
export const copySizeKind = (bytes: number): string => `copy:${bytes}`
export const cacheKind = (name: string, access: CacheAccess = 'copy'): string => (access === 'copy' ? `cache:${name}` : `cache:${name}:${access}`)
export const flopsKind = (dtype: string): string => `flops:${dtype}`
export const peerKind = (device: string): string => `peer:${device}`
export const launchKind = (mode: Mode): string => `launch:${mode}`

const LAUNCH_WORDS: Readonly<Record<string, string>> = { hot: 'Launch, back to back', graph: 'Launch, in a graph', cold: 'Launch after a flush' } satisfies Partial<Record<Mode, string>>

/** A ceiling's name for people: `Copy bandwidth`, `L2 bandwidth`, `Peak bf16`, `Launch, back to back`, `Peak f32 (sse2, 1 thread)`. */
export function ceilingTitle(kind: string): string {
  const { base, choice } = splitKind(kind)
  return choice ? `${baseTitle(base)} (${choiceTitle(choice)})` : baseTitle(base)
}

const CACHE_WORDS: Readonly<Record<CacheAccess, string>> = { copy: 'bandwidth', read: 'read bandwidth', write: 'write bandwidth' }

/** The name of a kind without the choice that it holds for. */
export function baseTitle(kind: string): string {
  const read = ceilingKind(kind)
  switch (read.is) {
    case 'copy':
      return 'Copy bandwidth'
    case 'read':
      return 'Read bandwidth'
    case 'write':
      return 'Write bandwidth'
    case 'copy-size':
      return `Copy of ${formatBytes(read.bytes).replace(/\.0+ /, ' ')}`
    case 'cache':
      return `${read.name} ${CACHE_WORDS[read.access]}`
    case 'flops':
      return `Peak ${read.dtype}`
    case 'peer':
      return `Link to ${read.device}`
    case 'launch':
      return LAUNCH_WORDS[read.mode] ?? `Launch, ${read.mode}`
    case 'other':
      return kind
  }
}

/** A ceiling's value with its unit: `4.19 TB/s`, `61.0 TFLOP/s`, `2.13 µs`. */
export function ceilingValue({ unit, value }: Pick<Ceiling, 'unit' | 'value'>): string {
  return unit === 'bytes/s' ? formatBandwidth(value) : unit === 'FLOP/s' ? formatFlops(value) : formatTime(value * 1e9)
}

/** Order of kinds in lists: those of the whole device before those of one choice; copy, read, write, caches from large to small, peaks, launches, the copy curve by size. */
export function compareKinds(a: string, b: string): number {
  const [choiceA, choiceB] = [a, b].map((kind) => splitKind(kind).choice)
  if (choiceA?.impl !== choiceB?.impl || choiceA?.threads !== choiceB?.threads)
    return !choiceA || !choiceB ? Number(choiceA !== undefined) - Number(choiceB !== undefined) : choiceA.threads - choiceB.threads || (choiceA.impl < choiceB.impl ? -1 : 1)
  const rank = (kind: string): [number, number] => {
    const read = ceilingKind(kind)
    switch (read.is) {
      case 'copy':
        return [0, 0]
      case 'read':
        return [0, 1]
      case 'write':
        return [0, 2]
      case 'cache':
        return [1, 3 * -Number(/\d+/.exec(read.name)?.[0] ?? 0) + Object.keys(CACHE_WORDS).indexOf(read.access)]
      case 'flops':
        return [2, ['f32', 'tf32', 'f16', 'bf16'].indexOf(read.dtype)]
      case 'launch':
        return [3, Object.keys(LAUNCH_WORDS).indexOf(read.mode)]
      case 'peer':
        return [1, Number(/\d+$/.exec(read.device)?.[0] ?? 0)]
      case 'copy-size':
        return [4, read.bytes]
      case 'other':
        return [5, 0]
    }
  }
  const [groupA, placeA] = rank(a)
  const [groupB, placeB] = rank(b)
  return groupA - groupB || placeA - placeB || (a < b ? -1 : Number(a > b))
}
