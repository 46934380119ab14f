import { z } from 'zod'
import type { Device } from '../../backend'
import type { Dtype, Params } from '../../case'
import type { Summary } from '../../result'
import { finishImport, readAs } from '../shared/check'
import { foreignDevice, foreignSession, type ForeignResult } from '../shared/foreign'
import type { ImportSource, FileFormat, ImportOutcome } from '../file-format'

const BACKEND = 'nvbench'
/** What the type axis of a benchmark is usually called, and the types that are ours too. */
const TYPE_AXIS = /^(?:T|type|dtype|value ?type)$/i
const DTYPES: Readonly<Record<string, Dtype>> = { F32: 'f32', F16: 'f16', BF16: 'bf16', TF32: 'tf32' }

/** A number written as text; undefined where it is none or not finite. */
function numberOf(value: string | number | undefined): number | undefined {
  const number = typeof value === 'string' ? (/^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*$/i.test(value) ? Number(value) : NaN) : value
  return number !== undefined && Number.isFinite(number) ? number : undefined
}

/** Axis values as parameters: numbers of number axes, words of the others. */
function paramsOf(state: NvbenchState): Params {
  return Object.fromEntries((state.axis_values ?? []).map(({ name, type, value }) => [name, (type === 'string' ? undefined : numberOf(value)) ?? String(value)]))
}

/** Ways of measuring a state, by where their summaries stand. */
const KINDS = [
  { root: 'nv/cold', clock: 'gpu', mode: 'cold', note: 'Isolated calls with flushed L2.' },
  { root: 'nv/batch', clock: 'gpu', mode: 'hot', note: 'Calls back to back in batches.' },
  { root: 'nv/cpu_only', clock: 'cpu', mode: 'hot', note: 'Timed on the host.' },
] as const

function* resultsOf(op: string, state: NvbenchState): Generator<ForeignResult> {
  const params = paramsOf(state)
  const type = (state.axis_values ?? []).find(({ name }) => TYPE_AXIS.test(name))
  const device = state.device === undefined || state.device === null ? 'cpu' : `cuda:${state.device}`
  const common = { op, params, backend: BACKEND, device, dtype: DTYPES[String(type?.value)] ?? ('unknown' as const) }
  if (state.is_skipped) {
    yield { ...common, mode: 'cold', status: 'skipped', message: (state.skip_reason ?? '').slice(0, 4000) || 'The file states no reason.' }
    return
  }
  const values = new Map((state.summaries ?? []).map(({ tag, data }) => [tag, numberOf(data?.find(({ name }) => name === 'value')?.value)]))
  for (const { root, clock, mode, note } of KINDS) {
    const ns = (figure: string) => {
      const seconds = values.get(`${root}/time/${clock}/${figure}`)
      return seconds === undefined || seconds < 0 ? undefined : seconds * 1e9
    }
    const meanNs = ns('mean')
    const medianNs = ns('median') ?? meanNs
    if (medianNs === undefined) continue
    const count = values.get(`${root}/sample_size`)
    const rate = values.get(`${root}/bw/global/bytes_per_second`)
    const summary: Summary = {
      ...(count !== undefined && Number.isSafeInteger(count) && count > 0 ? { count } : {}), medianNs,
      meanNs, minNs: ns('min'), maxNs: ns('max'), p25Ns: ns('q1'), p75Ns: ns('q3'), stddevNs: ns('stdev/absolute'),
    }
    // Rates are those of the mean time.
    const bytes = rate !== undefined && rate > 0 && meanNs !== undefined ? Math.round((rate * meanNs) / 1e9) : 0
    yield { ...common, mode, summary, bytes: Number.isFinite(bytes) ? bytes : 0, notes: [note, ...(ns('median') === undefined ? ['The file states the mean, which stands for the median here.'] : [])] }
  }
}

function deviceOf(given: NvbenchDevice): Device {
  const facts = [
    ...(given.number_of_sms === undefined ? [] : [{ name: 'SMs', value: String(given.number_of_sms) }]),
    ...(given.sm_version === undefined ? [] : [{ name: 'SM version', value: String(given.sm_version) }]),
    ...(given.sm_default_clock_rate === undefined ? [] : [{ name: 'SM clock', value: `${Math.round(given.sm_default_clock_rate / 1e6)} MHz` }]),
    ...(given.global_memory_bus_bandwidth === undefined ? [] : [{ name: 'Memory bandwidth', value: `${Math.round(given.global_memory_bus_bandwidth / 1e9)} GB/s` }]),
    ...(given.ecc_state === undefined ? [] : [{ name: 'ECC', value: given.ecc_state ? 'on' : 'off' }]),
  ]
  const caches = given.l2_cache_size !== undefined && given.l2_cache_size > 0 ? { caches: [{ name: 'L2', bytes: given.l2_cache_size }] } : {}
  return { ...foreignDevice(BACKEND, `cuda:${given.id}`, given.name, facts), modes: ['cold', 'hot'], memoryBytes: given.global_memory_size ?? 0, ...caches }
}

/** Null unless the first benchmark has states, as no other tool's file has them. */
function importNvbench(source: ImportSource): ImportOutcome | null {
  const root = source.looseJson()
  if (typeof root !== 'object' || root === null || !('benchmarks' in root) || !('devices' in root) || !Array.isArray(root.benchmarks)) return null
  const [first] = root.benchmarks as unknown[]
  if (typeof first !== 'object' || first === null || !('states' in first)) return null
  const read = readAs(fileSchema, root)
  if (!read.ok) return read
  const results = read.value.benchmarks.flatMap(({ name, states }) => (states ?? []).flatMap((state) => [...resultsOf(name, state)]))
  if (results.length === 0) return { ok: false, message: 'benchmarks: expected states with times, received none' }
  return finishImport(foreignSession(source, { tool: 'nvbench', environment: { devices: (read.value.devices ?? []).map(deviceOf) }, results }))
}

const format: FileFormat = { id: 'nvbench', title: 'nvbench', description: 'JSON of NVIDIA nvbench (`--json`): isolated and batched times of CUDA kernels', extension: 'json', importSession: importNvbench }
export default format

/**
 * nvbench's `--json` output (https://github.com/NVIDIA/nvbench, nvbench/json_printer.cu, JSON versions 1.x): numbers of axes
 * and summaries are texts, times are seconds, rates are per second. Unknown fields are left alone.
 */
const namedValue = z.object({ name: z.string(), type: z.string(), value: z.union([z.string(), z.number()]) })

const summarySchema = z.object({ tag: z.string(), data: z.array(namedValue).nullable().optional() })

const stateSchema = z.object({
  name: z.string().optional(),
  /** Id of the device; absent or null for benchmarks of the host alone. */
  device: z.number().int().nonnegative().nullable().optional(),
  axis_values: z.array(namedValue).nullable().optional(),
  summaries: z.array(summarySchema).nullable().optional(),
  is_skipped: z.boolean(),
  skip_reason: z.string().optional(),
})
type NvbenchState = z.output<typeof stateSchema>

const deviceSchema = z.object({
  id: z.number().int().nonnegative(),
  name: z.string().max(400),
  sm_version: z.number().optional(),
  number_of_sms: z.number().optional(),
  sm_default_clock_rate: z.number().optional(),
  global_memory_size: z.number().nonnegative().optional(),
  global_memory_bus_bandwidth: z.number().optional(),
  l2_cache_size: z.number().optional(),
  ecc_state: z.boolean().optional(),
})
type NvbenchDevice = z.output<typeof deviceSchema>

const fileSchema = z.object({
  devices: z.array(deviceSchema).nullable(),
  benchmarks: z.array(z.object({ name: z.string().min(1).max(10_000), states: z.array(stateSchema).nullable() })).min(1),
})
