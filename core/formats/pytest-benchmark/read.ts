import { z } from 'zod'
import { benchmarkCaseSchema, type Params } from '../../case'
import { secondsToNs, foreignDevice, foreignSession, isoTime, dtypeNamed, secondsSchema, type ForeignResult } from '../shared/foreign'
import { readAs, finishImport } from '../shared/check'
import type { ImportSource, ImportOutcome } from '../file-format'

const seconds = secondsSchema.nullish()
const text = z.string().nullish()

const statsSchema = z.object({
  median: secondsSchema,
  min: seconds, max: seconds, mean: seconds, stddev: seconds, q1: seconds, q3: seconds,
  rounds: z.number().int().positive().nullish(),
  iterations: z.number().int().positive().nullish(),
  data: z.array(secondsSchema).nullish(),
})

const benchmarkSchema = z.object({
  group: text,
  name: z.string().min(1),
  fullname: text,
  params: z.record(z.string(), z.unknown()).nullish(),
  param: text,
  extra_info: z.record(z.string(), z.unknown()).nullish(),
  stats: statsSchema,
})
type Benchmark = z.infer<typeof benchmarkSchema>

const processorSchema = z.object({ brand: text, brand_raw: text, count: z.number().int().nonnegative().nullish() })
type Processor = z.infer<typeof processorSchema>

const fileSchema = z.object({
  machine_info: z.object({ node: text, system: text, release: text, machine: text, python_version: text, python_implementation: text, cpu: z.union([z.string(), processorSchema]).nullish() }).nullish(),
  commit_info: z.object({ id: text, branch: text, dirty: z.boolean().nullish() }).nullish(),
  datetime: text,
  benchmarks: z.array(benchmarkSchema),
})
type File = z.infer<typeof fileSchema>

/** What this app writes into extra_info: the case in full, and which repeat of the sweep it is. */
const ownSchema = z.object({ case: benchmarkCaseSchema, run: z.number().int().nonnegative().optional() })

/** `test_add` of `test_add[float32-1000]`. */
const withoutParam = ({ name, param }: Benchmark) => (param != null && name.endsWith(`[${param}]`) && name.length > param.length + 2 ? name.slice(0, -param.length - 2) : name)

/** Names that functions of several files share; those benchmarks go by their full names. */
function sharedNames(benchmarks: readonly Benchmark[]): ReadonlySet<string> {
  const fileOf = new Map<string, string>()
  const shared = new Set<string>()
  for (const benchmark of benchmarks) {
    const name = withoutParam(benchmark)
    const file = (benchmark.fullname ?? '').split('::')[0] ?? ''
    const known = fileOf.get(name)
    if (known === undefined) fileOf.set(name, file)
    else if (known !== file) shared.add(name)
  }
  return shared
}

const paramValue = (value: unknown): Params[string] => (typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)) ? value : (JSON.stringify(value) ?? ''))

function resultOf(benchmark: Benchmark, shared: ReadonlySet<string>): ForeignResult {
  const { stats, params, extra_info, group } = benchmark
  const short = withoutParam(benchmark)
  const own = ownSchema.safeParse(extra_info?.['opscope'])
  const named: Pick<ForeignResult, 'op' | 'params' | 'dtype' | 'backend' | 'impl' | 'device' | 'threads' | 'mode' | 'run'> = own.success
    ? { ...own.data.case, ...(own.data.run === undefined ? {} : { run: own.data.run }) }
    : {
        op: shared.has(short) && benchmark.fullname ? benchmark.fullname.replace(/\[[^]*$/, '') : short, backend: 'pytest-benchmark', dtype: dtypeNamed(params?.['dtype']),
        params: params ? Object.fromEntries(Object.entries(params).map(([name, value]) => [name, paramValue(value)])) : benchmark.param ? { param: benchmark.param } : {},
      }
  const ns = (value: number | null | undefined) => (value == null ? undefined : secondsToNs(value))
  const samplesNs = (stats.data ?? []).map(secondsToNs)
  const result: ForeignResult = {
    ...named, samplesNs,
    stated: Object.fromEntries(Object.entries(extra_info ?? {}).flatMap(([name, value]) => (typeof value === 'number' && Number.isFinite(value) ? [[name, value]] : []))),
    notes: group && !own.success ? [`Group: ${group}.`] : [],
  }
  if (stats.iterations != null) result.inner = stats.iterations
  if (samplesNs.length > 0) result.claim = { count: stats.rounds ?? undefined, medianNs: secondsToNs(stats.median), minNs: ns(stats.min), maxNs: ns(stats.max), meanNs: ns(stats.mean) }
  else {
    result.summary = { count: stats.rounds ?? undefined, medianNs: secondsToNs(stats.median), minNs: ns(stats.min), maxNs: ns(stats.max), meanNs: ns(stats.mean), stddevNs: ns(stats.stddev), p25Ns: ns(stats.q1), p75Ns: ns(stats.q3) }
  }
  return result
}

/** The tool writes UTC and, in some versions, leaves the zone out. */
const timeOf = (datetime: string | null | undefined) => isoTime(datetime == null || /(Z|[+-]\d\d:?\d\d)$/.test(datetime) ? (datetime ?? undefined) : `${datetime}Z`)

function commitText({ commit_info: commit }: File): string {
  if (!commit?.id || commit.id === 'unversioned') return ''
  return `Commit ${commit.id}${commit.branch ? ` on ${commit.branch}` : ''}${commit.dirty ? ', with changes' : ''}`
}

/** What the tool tells of the machine, as the environment of a session whose results name their devices. */
function environmentOf(machine: File['machine_info'], results: readonly ForeignResult[]) {
  const processor: Processor | null | undefined = typeof machine?.cpu === 'string' ? { brand: machine.cpu } : machine?.cpu
  const cpu = processor?.brand_raw ?? processor?.brand ?? ''
  const facts = [{ name: 'Python', value: [machine?.python_implementation, machine?.python_version].filter(Boolean).join(' ') }, { name: 'Architecture', value: machine?.machine ?? '' }].filter(({ value }) => value !== '')
  const devices = new Map(results.map(({ backend, device = 'cpu' }) => [`${backend} ${device}`, foreignDevice(backend, device, device === 'cpu' ? cpu : '', facts)]))
  return { host: machine?.node ?? '', os: machine?.system ?? '', kernel: machine?.release ?? '', cpu, logicalCpus: processor?.count ?? 0, devices: [...devices.values()] }
}

export function importBenchmarks(source: ImportSource): ImportOutcome | null {
  const raw = source.looseJson()
  if (typeof raw !== 'object' || raw === null || !Object.hasOwn(raw, 'machine_info') || !Array.isArray((raw as { benchmarks?: unknown }).benchmarks)) return null
  const read = readAs(fileSchema, raw)
  if (!read.ok) return read
  const { machine_info: machine, benchmarks, datetime } = read.value
  const shared = sharedNames(benchmarks)
  const results = benchmarks.map((benchmark) => resultOf(benchmark, shared))
  const createdAt = timeOf(datetime)
  return finishImport(foreignSession(source, {
    tool: 'pytest-benchmark', ...(createdAt === undefined ? {} : { createdAt }), notes: commitText(read.value), results, environment: environmentOf(machine, results),
  }))
}
