import type { Mode } from '../../case'
import type { Ceiling } from '../../session/types'
import { formatBandwidth, formatBytes, formatFlops, formatTime } from '../../units'

/** What a ceiling limits, read from its kind (Ceiling.kind). */
export type CeilingKind =
  /** Copy bandwidth beyond the caches. */
  | { is: 'copy' }
  /** Bandwidth of reading alone, beyond the caches. */
  | { is: 'read' }
  /** Bandwidth of writing alone, beyond the caches. */
  | { is: 'write' }
  /** Hot copy with a working set of so many bytes, in and out together. */
  | { is: 'copy-size'; bytes: number }
  /** Best hot copy within a cache. */
  | { is: 'cache'; name: string }
  | { is: 'flops'; dtype: string }
  /** What the link to another GPU of the machine carries in one direction, mean of both. */
  | { is: 'peer'; device: string }
  /** Time of a call that does next to nothing. */
  | { is: 'launch'; mode: string }
  /** Written by another version. */
  | { is: 'other' }

/** Takes the text of a kind apart. */
export function ceilingKind(kind: string): CeilingKind {
  const [head, tail = ''] = [kind.split(':', 1)[0], kind.includes(':') ? kind.slice(kind.indexOf(':') + 1) : '']
  if (kind === 'copy') return { is: 'copy' }
  if (kind === READ_KIND) return { is: 'read' }
  if (kind === WRITE_KIND) return { is: 'write' }
  if (head === 'copy' && Number(tail) > 0) return { is: 'copy-size', bytes: Number(tail) }
  if (head === 'cache' && tail) return { is: 'cache', name: tail }
  if (head === 'flops' && tail) return { is: 'flops', dtype: tail }
  if (head === 'peer' && tail) return { is: 'peer', device: tail }
  if (head === 'launch' && tail) return { is: 'launch', mode: tail }
  return { is: 'other' }
}

export const READ_KIND = 'read'
export const WRITE_KIND = 'write'
export const copySizeKind = (bytes: number): string => `copy:${bytes}`
export const cacheKind = (name: string): string => `cache:${name}`
export const flopsKind = (dtype: string): string => `flops:${dtype}`
export const peerKind = (device: string): string => `peer:${device}`
export const launchKind = (mode: Mode): string => `launch:${mode}`

const LAUNCH_WORDS: Readonly<Record<string, string>> = { hot: 'Launch, back to back', graph: 'Launch, in a graph', cold: 'Launch after a flush' } satisfies Partial<Record<Mode, string>>

/** A ceiling's name for people: `Copy bandwidth`, `L2 bandwidth`, `Peak bf16`, `Launch, back to back`. */
export function ceilingTitle(kind: string): string {
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
      return `${read.name} bandwidth`
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

/** Order of kinds in lists: copy, read, write, caches from large to small, peaks, launches, the copy curve by size. */
export function compareKinds(a: string, b: string): number {
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
        return [1, -Number(/\d+/.exec(read.name)?.[0] ?? 0)]
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
