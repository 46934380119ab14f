import { isEagerTorch } from './ratings/libraries'
import { workOf } from './size'
import { isLibrary } from '../backends'
import { caseId, type BenchmarkCase, type Params } from '../case'
import { shapeText } from '../case-words'
import type { Op } from '../ops/types'
import { roofFinder, roofline, type Bound } from '../roofline/roofline'
import type { Row } from '../session/rows'
import { hardwareOf } from '../session/environment'
import type { SweepSpec } from '../session/sweep-spec'
import type { Ceiling } from '../session/types'
import { measuredParts } from '../sweep/parts'
import { pickedOps } from '../sweep/picked-ops'

/** A part of a composite op on one implementation, placed after the parts before it. */
export interface TimelinePart {
  name: string
  pass: 'forward' | 'backward'
  case: BenchmarkCase
  /** The result that it comes from. */
  result: string
  /** Sum of the medians of the parts before, and its own median, in ns. */
  startNs: number
  ns: number
  /** Of the sum of all parts, from 0 to 1. */
  share: number
  bytes: number
  flops: number
  bytesPerSecond: number
  flopsPerSecond: number
  bound?: Bound
  efficiency?: number
}

/** A composite op on one implementation: its parts one after the other. */
export interface Timeline {
  /** Of op, parameters and implementation: unique within a session. */
  key: string
  /** `transformer_block 8x512x768x12` */
  work: string
  /** A case of the composite on this implementation, measured or not. */
  case: BenchmarkCase
  parts: TimelinePart[]
  /** Names of parts that have no valid result, so that the sums leave them out. */
  missing: string[]
  /** Whether every part of the forward pass has a valid result: only then does its sum stand beside the whole. */
  complete: boolean
  forwardNs: number
  backwardNs: number
  /** Median of the whole op (forward) in this implementation, and its result. */
  whole?: { ns: number; result: string }
  /** Median of the whole op (forward) in PyTorch on the same hardware. */
  torch?: { ns: number; result: string }
}

/** The composite ops that a sweep measures by parts, with their parameters. */
export function compositesOf(spec: Pick<SweepSpec, 'ops' | 'sizes' | 'parts'>): { op: Op; params: Params }[] {
  if (!spec.parts) return []
  return pickedOps(spec, []).flatMap(({ op, params }) => (op.parts ? params.map((p) => ({ op, params: p })) : []))
}

/** What implements a case, and how it is measured: all but op and parameters. */
const implementationOf = ({ backend, impl, device, dtype, mode, threads }: BenchmarkCase) => JSON.stringify([backend, impl, device, dtype, mode, threads])

/**
 * The timelines of a session that measured composite ops by parts. A part is measured alone, with
 * inputs of its own: the sum leaves out what the parts do for each other through the caches, and adds their launches. Parts
 * that are the same case (two products of the same shape) share its result.
 */
export function blockTimelines(spec: Pick<SweepSpec, 'ops' | 'sizes' | 'parts'>, rows: readonly Row[], ceilings: readonly Ceiling[]): Timeline[] {
  const valid = new Map<string, Row & { medianNs: number }>()
  const lanes = new Map<string, BenchmarkCase>()
  for (const row of rows) {
    if (row.status === 'ok' && row.medianNs !== undefined && !valid.has(caseId(row.case))) valid.set(caseId(row.case), { ...row, medianNs: row.medianNs })
    if (!lanes.has(implementationOf(row.case))) lanes.set(implementationOf(row.case), row.case)
  }
  const roofs = roofFinder(ceilings)
  // Our kernels before the libraries that they are held against.
  const implementations = [...lanes.values()].sort((a, b) => Number(isLibrary(a.backend)) - Number(isLibrary(b.backend)))
  return compositesOf(spec).flatMap(({ op, params }) =>
    implementations.flatMap((lane): Timeline[] => {
      const whole = { ...lane, op: op.id, params }
      const parts: TimelinePart[] = []
      const missing: string[] = []
      let complete = true
      for (const part of measuredParts(op, params, spec.parts!)) {
        const c = { ...lane, op: part.op.id, params: part.params }
        const row = valid.get(caseId(c))
        if (!row) {
          missing.push(part.name)
          complete &&= part.pass !== 'forward'
        } else {
          const [bytes, flops, ns] = [row.bytes ?? 0, row.flops ?? 0, row.medianNs]
          const point = roofline({ bytes, flops, medianNs: ns }, roofs(c))
          const startNs = parts.length === 0 ? 0 : parts.at(-1)!.startNs + parts.at(-1)!.ns
          parts.push({ name: part.name, pass: part.pass, case: c, result: row.id, startNs, ns, share: 0, bytes, flops, bytesPerSecond: (bytes / ns) * 1e9, flopsPerSecond: (flops / ns) * 1e9, ...(point?.bound ? { bound: point.bound } : {}), ...(point?.efficiency === undefined ? {} : { efficiency: point.efficiency }) })
        }
      }
      if (parts.length === 0) return []
      const sum = (pass: TimelinePart['pass']) => parts.reduce((total, part) => (part.pass === pass ? total + part.ns : total), 0)
      const [forwardNs, backwardNs] = [sum('forward'), sum('backward')]
      for (const part of parts) part.share = part.ns / (forwardNs + backwardNs)
      const own = valid.get(caseId(whole))
      const torch = torchOf(whole, valid)
      return [{
        key: `${op.id}|${JSON.stringify(params)}|${implementationOf(lane)}`, work: `${op.id} ${shapeText(whole)}`, case: whole, parts, missing, complete, forwardNs, backwardNs,
        ...(own ? { whole: { ns: own.medianNs, result: own.id } } : {}),
        ...(torch ? { torch: { ns: torch.medianNs, result: torch.id } } : {}),
      }]
    }),
  )
}

/** The fastest result of eager PyTorch for the same work on the same hardware. */
function torchOf(whole: BenchmarkCase, valid: ReadonlyMap<string, Row & { medianNs: number }>): (Row & { medianNs: number }) | undefined {
  const same = [...valid.values()].filter(({ case: c }) => isEagerTorch(c) && workOf(c) === workOf(whole) && hardwareOf(c.device) === hardwareOf(whole.device))
  return same.sort((a, b) => a.medianNs - b.medianNs)[0]
}
