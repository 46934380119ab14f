import { z } from 'zod'
import { criterionResult, criterionSession, timeUnit, TIME_UNIT_NAMES, type CriterionBenchmark } from '../shared/criterion-samples'
import { shiftDecimal, type ForeignResult } from '../shared/foreign'
import { readAs } from '../shared/check'
import type { ImportSource, FileFormat, ImportOutcome } from '../file-format'

const estimateSchema = z.object({ estimate: z.number().nonnegative().max(1e18), unit: z.string() }).nullish()
const benchmarkSchema = z.object({
  reason: z.literal('benchmark-complete'),
  id: z.string().min(1),
  iteration_count: z.array(z.number().int().positive()).min(1),
  measured_values: z.array(z.number().nonnegative().max(1e18)).min(1),
  unit: z.string(),
  mean: estimateSchema,
  median: estimateSchema,
  throughput: z.array(z.object({ per_iteration: z.number().nonnegative().max(1e18), unit: z.string() })).nullish(),
})
const groupSchema = z.object({ reason: z.literal('group-complete'), group_name: z.string(), benchmarks: z.array(z.string()) })

type Benchmark = z.infer<typeof benchmarkSchema>

/** Parts of an id whose group is known: `sum/fold/1000` of `sum` is function `fold` with value `1000`; a number alone is a value. */
function partsOf(id: string, group: string | undefined): Pick<CriterionBenchmark, 'op' | 'impl' | 'value'> {
  if (group === undefined || group === '') return { op: id }
  const rest = id.slice(group.length + 1)
  if (rest === '') return { op: group }
  const cut = rest.lastIndexOf('/')
  if (cut > 0 && cut < rest.length - 1) return { op: group, impl: rest.slice(0, cut), value: rest.slice(cut + 1) }
  return Number.isFinite(Number(rest)) ? { op: group, value: rest } : { op: group, impl: rest }
}

function resultOf(benchmark: Benchmark, line: number, groups: ReadonlyMap<string, string>): ForeignResult | string {
  const { id, iteration_count, measured_values, unit, throughput } = benchmark
  if (iteration_count.length !== measured_values.length) return `line ${line}, measured_values: expected ${iteration_count.length} values as in iteration_count, received ${measured_values.length}`
  const power = timeUnit(unit)
  if (power === undefined) return `line ${line}, unit: expected one of ${TIME_UNIT_NAMES} because only times can be read, received ${JSON.stringify(unit.slice(0, 60))}`
  const criterion: CriterionBenchmark = { ...partsOf(id, groups.get(id)), samples: measured_values.map((measured, i) => ({ measured, iterations: iteration_count[i]! })) }
  const [first] = throughput ?? []
  if (first) criterion.throughput = { amount: first.per_iteration, unit: first.unit }
  const ns = (stated: z.infer<typeof estimateSchema>) => (stated && timeUnit(stated.unit) !== undefined ? shiftDecimal(stated.estimate, timeUnit(stated.unit)!) : undefined)
  return { ...criterionResult(criterion, power), claim: { medianNs: ns(benchmark.median), meanNs: ns(benchmark.mean) } }
}

const reasonOf = (value: unknown): unknown => (typeof value === 'object' && value !== null ? (value as { reason?: unknown }).reason : undefined)

function parseLine(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function importMessages(source: ImportSource): ImportOutcome | null {
  if (!/^\s*\{.*"reason"/.test(source.text)) return null
  const messages = source.text.split('\n').map((text, i) => ({ text: text.trim(), line: i + 1 })).filter(({ text }) => text !== '').map(({ text, line }) => ({ value: parseLine(text), line }))
  if (!messages.some(({ value }) => reasonOf(value) === 'benchmark-complete')) return null
  const benchmarks: { benchmark: Benchmark; line: number }[] = []
  const groups = new Map<string, string>()
  for (const { value, line } of messages) {
    const reason = reasonOf(value)
    if (typeof reason !== 'string') return { ok: false, message: `line ${line}: expected a message of cargo-criterion, a JSON object with a reason` }
    if (reason === 'benchmark-complete') {
      const read = readAs(benchmarkSchema, value)
      if (!read.ok) return { ok: false, message: `line ${line}, ${read.message}` }
      benchmarks.push({ benchmark: read.value, line })
    } else if (reason === 'group-complete') {
      const read = readAs(groupSchema, value)
      if (!read.ok) return { ok: false, message: `line ${line}, ${read.message}` }
      for (const id of read.value.benchmarks) if (id === read.value.group_name || id.startsWith(`${read.value.group_name}/`)) groups.set(id, read.value.group_name)
    }
  }
  const results: ForeignResult[] = []
  for (const { benchmark, line } of benchmarks) {
    const result = resultOf(benchmark, line, groups)
    if (typeof result === 'string') return { ok: false, message: result }
    results.push(result)
  }
  return criterionSession(source, results)
}

/**
 * What `cargo criterion --message-format=json` writes: a message per line, of which benchmark-complete carries the samples
 * and group-complete tells which part of an id is the group. Other messages are passed over.
 */
const format: FileFormat = { id: 'cargo-criterion', title: 'cargo-criterion', description: 'Messages of `cargo criterion --message-format=json`', extension: 'jsonl', importSession: importMessages }
export default format
