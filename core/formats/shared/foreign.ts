import { z } from 'zod'
import type { Device } from '../../backend'
import type { BenchmarkCase, Params } from '../../case'
import type { Result, Summary } from '../../result'
import { SCHEMA_VERSION, type Environment, type SessionFile } from '../../session/types'
import { summarize } from '../../stats/summarize'
import type { ImportSource } from '../file-format'
import { finite, type Claim } from './contradictions'

/** FNV-1a of a text's UTF-16 units as eight hexadecimal digits: names what was imported, the same at every import. */
export function shortHash(text: string): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}

/** A text that fits a field: longer ones keep their beginning and end in a hash of the whole, so that different stay different. */
export const fitText = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 9)}#${shortHash(text)}`)

/** Names and texts of parameters as a case can hold them. */
export const fitParams = (params: Readonly<Record<string, Params[string]>>): Params =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [fitText(name, 40), typeof value === 'string' ? fitText(value, 40) : value]))

/** A time as ISO 8601 UTC; undefined where the text is none. */
export function isoTime(text: string | undefined): string | undefined {
  const time = text === undefined ? NaN : Date.parse(text)
  // Years beyond four digits have another notation, and no benchmark ran then.
  return time >= Date.UTC(1970, 0) && time < Date.UTC(10000, 0) ? new Date(time).toISOString() : undefined
}

/** What another tool's file says of one benchmark. */
export interface ForeignResult {
  /** The benchmark's name. */
  op: string
  params?: Readonly<Record<string, Params[string]>>
  /** The tool: `google-benchmark`. */
  backend: string
  /** `imported` unless the file says which implementation. */
  impl?: string
  /** `cpu` unless the file says. */
  device?: string
  dtype?: BenchmarkCase['dtype']
  threads?: number
  mode?: BenchmarkCase['mode']
  /** Repeat of a sweep, where this app wrote the file. */
  run?: number
  /** ns per call, in the order taken; empty where the file has figures only. */
  samplesNs?: number[]
  /** What the file states without samples. */
  summary?: Summary
  /** What it states beside its samples, which it is held to (shared/contradictions.ts). */
  claim?: Claim
  status?: Result['status']
  message?: string
  /** ISO 8601; the session's time when absent. */
  startedAt?: string
  /** Per call, where the file states a throughput; 0 is not known. */
  bytes?: number
  flops?: number
  memoryBytes?: number
  /** Calls per sample. */
  inner?: number
  /** Sum of sample durations, where calls per sample differ. */
  measuredMs?: number
  /** Figures that a result has no field for, under the file's names. */
  stated?: Readonly<Record<string, number>>
  /** Beyond the note that it is imported: what was not known or taken for something else. */
  notes?: readonly string[]
}

/** A device that another tool's file names. Nothing can be measured on it here. */
export const foreignDevice = (backend: string, id: string, name: string, facts: Device['facts'] = []): Device => ({
  backend, id, name: name || id, available: { ok: true }, impls: [], modes: ['hot'], threads: [], memoryBytes: 0, software: false, facts, warnings: [],
})

/** What another tool's file says as a whole. */
export interface ForeignSession {
  /** As in `Imported from ${tool}.`: `Google Benchmark`. */
  tool: string
  /** The file's name when absent. */
  name?: string
  createdAt?: string
  notes?: string
  environment?: Partial<Environment>
  results: readonly ForeignResult[]
}

/** The session that such a file stands for, to be checked by finishImport. Its ids follow from the file's text. */
export function foreignSession(source: ImportSource, { tool, name, createdAt, notes, environment, results }: ForeignSession): SessionFile & { claims: ReadonlyMap<string, Claim> } {
  const hash = shortHash(source.text)
  const at = createdAt ?? source.now
  return {
    schemaVersion: SCHEMA_VERSION,
    session: { id: `imported-${hash}`, name: fitText(name ?? source.name.replace(/\.[^.]+$/, ''), 200), createdAt: at, notes: notes ?? '', tags: ['imported'], state: 'done', planned: results.length },
    environment: { appVersion: '', host: '', os: '', kernel: '', cpu: '', logicalCpus: 0, memoryBytes: 0, node: '', devices: [], ...environment },
    results: results.map((result, i) => foreignResult(result, `${hash}-${i}`, tool, at)),
    claims: new Map(results.flatMap(({ claim }, i) => (claim ? [[`${hash}-${i}`, claim] as const] : []))),
  }
}

function foreignResult(given: ForeignResult, id: string, tool: string, at: string): Result {
  const samplesNs = given.samplesNs ?? []
  const summary = finite(given.summary ?? summarize(samplesNs))
  const measuredMs = given.measuredMs ?? samplesNs.reduce((sum, ns) => sum + ns, 0) * (given.inner ?? 1) / 1e6
  return {
    id,
    case: {
      op: fitText(given.op, 80), params: fitParams(given.params ?? {}), dtype: given.dtype ?? 'unknown', backend: fitText(given.backend, 40), impl: fitText(given.impl ?? 'imported', 40),
      device: fitText(given.device ?? 'cpu', 80), mode: given.mode ?? 'hot', threads: given.threads,
    },
    ...(given.run === undefined ? {} : { run: given.run }),
    status: given.status ?? 'ok',
    message: given.message,
    startedAt: given.startedAt ?? at,
    wallMs: 0,
    measuredMs: Number.isFinite(measuredMs) ? measuredMs : 0,
    bytes: given.bytes ?? 0,
    flops: given.flops ?? 0,
    samplesNs,
    inner: given.inner,
    summary,
    stated: given.stated && Object.keys(given.stated).length ? Object.fromEntries(Object.entries(given.stated).map(([name, value]) => [fitText(name, 60), value])) : undefined,
    notes: [`Imported from ${tool}; not verified.`, ...(given.notes ?? [])],
    caseBytes: given.memoryBytes,
    seed: 0,
  }
}

/**
 * A number with its decimal point moved, as it would be written: 1.001e-7 by 9 places is 100.1, where a product with
 * 1e9 is 100.10000000000001. What a file states in seconds so keeps its digits in ns.
 */
export function shiftDecimal(value: number, places: number): number {
  const [digits, exponent = '0'] = String(value).split('e')
  return Number(`${digits}e${Number(exponent) + places}`)
}

export const secondsToNs = (seconds: number): number => shiftDecimal(seconds, 9)
export const nsToSeconds = (ns: number): number => shiftDecimal(ns, -9)
export const millisecondsToNs = (ms: number): number => shiftDecimal(ms, 6)
export const nsToMilliseconds = (ns: number): number => shiftDecimal(ns, -6)

/** The note on a result whose file has no median: the schema has no place for a mean alone, and a mean is no median. */
export const MEAN_AS_MEDIAN = 'The file states a mean and no median; the mean is shown as the median.'

/** Seconds of one call or all of them: more than 31 years is no measurement. */
export const secondsSchema = z.number().nonnegative().max(1e9)
/** A duration in ns below the same bound. */
export const nsSchema = z.number().nonnegative().max(1e18)

const DTYPE_NAMES: Readonly<Record<string, 'f32' | 'f16' | 'bf16'>> = { float32: 'f32', f32: 'f32', float16: 'f16', half: 'f16', f16: 'f16', bfloat16: 'bf16', bf16: 'bf16' }

/** The element type that a Python or Rust name means; `unknown` for any other. */
export const dtypeNamed = (name: unknown): 'f32' | 'f16' | 'bf16' | 'unknown' => (typeof name === 'string' && Object.hasOwn(DTYPE_NAMES, name) ? DTYPE_NAMES[name]! : 'unknown')
