import type { Ceiling } from '../../session/types'
import { ceilingKind } from './kinds'

/** A copy of one working set. */
export interface CurvePoint {
  /** Bytes in and out together. */
  bytes: number
  bytesPerSecond: number
  /** From the 95 % interval of the median time. */
  low?: number
  high?: number
  ceiling: Ceiling
}

/** Bandwidth of copies by working set, smallest first: the ceilings of kinds `copy:BYTES` and `copy` of one device. */
export function copyCurve(ceilings: readonly Ceiling[]): CurvePoint[] {
  return ceilings
    .flatMap((ceiling): CurvePoint[] => {
      const kind = ceilingKind(ceiling.kind)
      if (kind.is !== 'copy' && kind.is !== 'copy-size') return []
      // Bytes of a copy are what it reads and what it writes: its working set.
      const bytes = kind.is === 'copy-size' ? kind.bytes : ceiling.result.bytes
      return [{ bytes, bytesPerSecond: ceiling.value, ...intervalOf(ceiling), ceiling }]
    })
    .sort((a, b) => a.bytes - b.bytes)
}

/** The 95 % interval of a ceiling in its own unit, from that of its result's median. */
export function intervalOf({ unit, result }: Ceiling): { low?: number; high?: number } {
  const { ciLowNs, ciHighNs } = result.summary ?? {}
  if (ciLowNs === undefined || ciHighNs === undefined || !(ciLowNs > 0)) return {}
  if (unit === 's') return { low: ciLowNs / 1e9, high: ciHighNs / 1e9 }
  const work = unit === 'bytes/s' ? result.bytes : result.flops
  return { low: (work / ciHighNs) * 1e9, high: (work / ciLowNs) * 1e9 }
}
