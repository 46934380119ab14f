import { z } from 'zod'
import { benchmarkCaseSchema } from '../../case'
import { cleanSamples } from '../../measure/result/labels'
import type { Result } from '../../result'
import type { SessionFile, Environment } from '../../session/types'
import { summarize } from '../../stats/summarize'
import { finite, type Claim } from '../shared/contradictions'
import { finishImport, readAs } from '../shared/check'
import { foreignDevice, foreignSession, isoTime, type ForeignResult } from '../shared/foreign'
import type { ImportSource, FileFormat, ImportOutcome } from '../file-format'
import { OUR_EXECUTABLE, parseCaseName, parseName, parseRun, resultName } from './name'

const CACHE_TYPES: Record<string, string> = { d: 'Data', i: 'Instruction' }

function cacheOf({ name, bytes, instances }: { name: string; bytes: number; instances: number }, logicalCpus: number) {
  const [, level, kind] = /^L(\d)([di]?)$/.exec(name) ?? []
  return level === undefined ? [] : [{ type: CACHE_TYPES[kind!] ?? 'Unified', level: Number(level), size: bytes, num_sharing: Math.max(1, Math.floor(logicalCpus / instances)) }]
}

/**
 * A row for each sample on which the statistics rest, as if it were a repetition, and the aggregates over these rows; a result that is not ok says why instead.
 * Repeats of a sweep are benchmarks of their own, as the aggregates of each are.
 */
function rowsOf(result: Result): object[] {
  const samplesNs = cleanSamples(result)
  const summary = samplesNs.length > 0 ? finite(summarize(samplesNs)) : result.summary
  const name = resultName(result)
  const common = { run_name: name, repetitions: Math.max(1, samplesNs.length || (summary?.count ?? 1)), threads: result.case.threads ?? 1 }
  const timed = (ns: number) => ({ real_time: ns, cpu_time: ns, time_unit: 'ns', ...(result.bytes > 0 && ns > 0 ? { bytes_per_second: (result.bytes / ns) * 1e9 } : {}) })
  if (result.status !== 'ok' || !result.summary || !summary) {
    return [{ name, ...common, run_type: 'iteration', repetition_index: 0, iterations: 0, error_occurred: true, error_message: `${result.status}: ${result.message ?? ''}`, real_time: 0, cpu_time: 0, time_unit: 'ns' }]
  }
  const samples = samplesNs.map((ns, i) => ({ name, ...common, run_type: 'iteration', repetition_index: i, iterations: result.inner ?? 1, ...timed(ns) }))
  const aggregates = ([['mean', summary.meanNs], ['median', summary.medianNs], ['stddev', summary.stddevNs]] as const).flatMap(([kind, ns]) =>
    ns === undefined ? [] : [{ name: `${name}_${kind}`, ...common, run_type: 'aggregate', aggregate_name: kind, aggregate_unit: 'time', iterations: common.repetitions, real_time: ns, cpu_time: ns, time_unit: 'ns' }],
  )
  return [...samples, ...aggregates]
}

/** One line per row, like the native files, so that files can be compared line by line. */
function exportGoogleBenchmark({ session, environment, results }: SessionFile): string {
  const context = {
    date: session.createdAt, host_name: environment.host, executable: OUR_EXECUTABLE, num_cpus: environment.logicalCpus, cpu_scaling_enabled: false,
    caches: (environment.caches ?? []).flatMap((cache) => cacheOf(cache, environment.logicalCpus)), load_avg: [], library_build_type: 'release',
  }
  const rows = results.flatMap(rowsOf).map((row) => JSON.stringify(row))
  return `{\n"context": ${JSON.stringify(context)},\n"benchmarks": [\n${rows.join(',\n')}\n]\n}\n`
}

/** Read by Google Benchmark's own tools (tools/compare.py) and by services that track benchmarks. */
const format: FileFormat = {
  id: 'google-benchmark', title: 'Google Benchmark', description: 'JSON of Google Benchmark: every sample that counts as a repetition, for its tools and services that track benchmarks', extension: 'json',
  exportSession: exportGoogleBenchmark, importSession: importGoogleBenchmark,
}
export default format

const BACKEND = 'google-benchmark'

/** A time of a run in ns; undefined where there is none. */
const nsOf = (run: GoogleRun, time: number | undefined = run.real_time) => (time === undefined ? undefined : time * NS_PER_UNIT[run.time_unit ?? 'ns'])

/** Rows of one benchmark: its repetitions, and figures over them. */
interface Runs {
  name: string
  repetitions: GoogleRun[]
  aggregates: Map<string, GoogleRun>
}

function grouped(benchmarks: readonly GoogleRun[]): Runs[] {
  const found = new Map<string, Runs>()
  for (const run of benchmarks) {
    const name = run.run_name ?? run.name
    let runs = found.get(name)
    if (!runs) found.set(name, (runs = { name, repetitions: [], aggregates: new Map() }))
    if (run.run_type !== 'aggregate') runs.repetitions.push(run)
    else if (run.aggregate_name !== undefined && run.aggregate_unit !== 'percentage' && run.real_time !== undefined) runs.aggregates.set(run.aggregate_name, run)
  }
  return [...found.values()].filter(({ repetitions, aggregates }) => repetitions.length > 0 || aggregates.has('median') || aggregates.has('mean'))
}

/** Bytes of one call: rates count processor time unless the name says otherwise, and of several threads they are sums. */
function bytesOf(run: GoogleRun, realTime: boolean, threads: number): number {
  const ns = nsOf(run, realTime ? run.real_time : run.cpu_time)
  if (!run.bytes_per_second || run.bytes_per_second < 0 || ns === undefined || threads > 1) return 0
  const bytes = (run.bytes_per_second * ns) / 1e9
  return Number.isFinite(bytes) ? Math.round(bytes) : 0
}

/** Aggregates that the file has beside the repetitions they are of. */
function claimOf({ aggregates, repetitions }: Runs, bytesOfRun: (run: GoogleRun) => number): Claim {
  const ns = (name: string) => {
    const run = aggregates.get(name)
    return run && nsOf(run)
  }
  const bytes = repetitions.map(bytesOfRun)
  const [least, most] = [Math.min(...bytes), Math.max(...bytes)]
  // Rates are rounded, so a few bytes are nothing.
  const rates = most > least * 1.01 + 2 ? [`The file states throughputs from which one call moves ${least} to ${most} bytes, depending on the repetition. Those of the first repetition are taken.`] : []
  return { count: aggregates.get('median')?.repetitions || undefined, medianNs: ns('median'), meanNs: ns('mean'), minNs: ns('min'), maxNs: ns('max'), ...(rates.length > 0 ? { rates } : {}) }
}

function resultOf({ name, repetitions, aggregates }: Runs, ours: boolean): ForeignResult {
  const first = repetitions[0] ?? aggregates.get('median') ?? aggregates.get('mean')!
  const named = parseName(name)
  const threads = first.threads ?? named.threads
  const own = ours ? benchmarkCaseSchema.safeParse(parseCaseName(name)) : undefined
  const run = own?.success ? parseRun(name) : undefined
  const work = own?.success ? { ...own.data, ...(run === undefined ? {} : { run }) } : { op: named.op, params: named.params, backend: BACKEND, threads }
  const failed = repetitions.find((run) => run.error_occurred)
  const skipped = repetitions.find((run) => run.skipped)
  if (failed ?? skipped) return { ...work, status: failed ? 'failed' : 'skipped', message: (failed?.error_message ?? skipped?.skip_message ?? '').slice(0, 4000) || 'The file states no reason.' }
  const iterations = new Set(repetitions.map((run) => run.iterations))
  const [inner] = iterations
  const common = { ...work, bytes: bytesOf(first, named.realTime, threads ?? 1), ...(iterations.size === 1 && inner ? { inner } : {}) }
  if (repetitions.length > 0) return { ...common, samplesNs: repetitions.map((run) => nsOf(run)!), claim: claimOf({ name, repetitions, aggregates }, (run) => bytesOf(run, named.realTime, threads ?? 1)), notes: [`Each sample is the mean of a repetition${inner ? '' : ' whose iterations differ'}.`] }
  const median = nsOf(aggregates.get('median') ?? first)!
  const mean = nsOf(aggregates.get('mean') ?? first)
  const stddev = aggregates.get('stddev')
  return {
    ...common,
    inner: undefined,
    summary: { ...(first.repetitions ? { count: first.repetitions } : {}), medianNs: median, ...(aggregates.has('mean') ? { meanNs: mean } : {}), ...(stddev ? { stddevNs: nsOf(stddev) } : {}) },
    notes: ['The file has figures over its repetitions, not the repetitions themselves.', ...(aggregates.has('median') ? [] : ['It states the mean, which stands for the median here.'])],
  }
}

function environmentOf({ context }: GoogleFile): Partial<Environment> {
  const facts = [
    ...(context.executable ? [{ name: 'Program', value: context.executable }] : []),
    ...(context.mhz_per_cpu ? [{ name: 'Clock', value: `${context.mhz_per_cpu} MHz` }] : []),
    ...(context.library_version ? [{ name: 'Google Benchmark', value: context.library_version }] : []),
  ]
  const warnings = [
    ...(context.library_build_type === 'debug' ? ['The benchmark library was built for debugging, which can make short benchmarks slower.'] : []),
    ...(context.cpu_scaling_enabled ? ['Frequency scaling was on.'] : []),
  ]
  const caches = context.caches?.filter(({ size }) => size > 0).map(({ type, level, size, num_sharing }) => ({
    name: `L${level}${type === 'Data' ? 'd' : type === 'Instruction' ? 'i' : ''}`, bytes: size, instances: Math.max(1, Math.floor((context.num_cpus ?? 1) / Math.max(1, num_sharing))),
  }))
  return { host: context.host_name ?? '', logicalCpus: context.num_cpus ?? 0, ...(caches ? { caches } : {}), devices: [{ ...foreignDevice(BACKEND, 'cpu', 'CPU', facts), warnings }] }
}

/** Null unless there are a context and benchmarks, as no other tool's file has them. */
function importGoogleBenchmark(source: ImportSource): ImportOutcome | null {
  const root = source.looseJson()
  if (typeof root !== 'object' || root === null || !('context' in root) || !('benchmarks' in root)) return null
  const read = readAs(fileSchema, root)
  if (!read.ok) return read
  const missing = read.value.benchmarks.findIndex((run) => run.run_type !== 'aggregate' && !run.error_occurred && !run.skipped && run.real_time === undefined)
  if (missing >= 0) return { ok: false, message: `benchmarks[${missing}].real_time: expected a number, received nothing` }
  const ours = read.value.context.executable === OUR_EXECUTABLE
  const results = grouped(read.value.benchmarks).map((runs) => resultOf(runs, ours))
  if (results.length === 0) return { ok: false, message: 'benchmarks: expected measured benchmarks, received none' }
  return finishImport(foreignSession(source, { tool: 'Google Benchmark', createdAt: isoTime(read.value.context.date), environment: environmentOf(read.value), results }))
}

/**
 * Google Benchmark's JSON reporter, as https://github.com/google/benchmark/blob/main/docs/user_guide.md#output-formats and
 * its tools/compare read it (versions 1.5 to 1.9). Numbers may be bare NaN and Infinity; user counters stand beside the
 * fields named here. Unknown fields are left alone.
 */
const time = z.number().nonnegative()

const runSchema = z.object({
  name: z.string().min(1).max(10_000),
  /** Absent before 1.5: then `name` is the run's name. */
  run_name: z.string().min(1).max(10_000).optional(),
  run_type: z.enum(['iteration', 'aggregate']).optional(),
  repetitions: z.number().int().nonnegative().optional(),
  threads: z.number().int().min(1).max(4096).optional(),
  aggregate_name: z.string().optional(),
  /** `percentage` of a coefficient of variation. */
  aggregate_unit: z.string().optional(),
  iterations: z.number().int().nonnegative().optional(),
  /** In `time_unit`; absent in fits of complexity. */
  real_time: time.optional(),
  cpu_time: time.optional(),
  time_unit: z.enum(['ns', 'us', 'ms', 's']).optional(),
  bytes_per_second: z.number().nullable().optional(),
  error_occurred: z.boolean().optional(),
  error_message: z.string().optional(),
  skipped: z.boolean().optional(),
  skip_message: z.string().optional(),
  label: z.string().optional(),
})
type GoogleRun = z.output<typeof runSchema>

const fileSchema = z.object({
  context: z.object({
    date: z.string().optional(),
    host_name: z.string().optional(),
    executable: z.string().optional(),
    num_cpus: z.number().int().nonnegative().max(1_000_000).optional(),
    mhz_per_cpu: z.number().nonnegative().optional(),
    cpu_scaling_enabled: z.boolean().optional(),
    caches: z.array(z.object({ type: z.string(), level: z.number().int(), size: z.number().nonnegative(), num_sharing: z.number().int().nonnegative() })).optional(),
    library_build_type: z.string().optional(),
    library_version: z.string().optional(),
  }),
  benchmarks: z.array(runSchema).min(1),
})
type GoogleFile = z.output<typeof fileSchema>

const NS_PER_UNIT = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 } as const
