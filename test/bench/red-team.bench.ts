import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { CaseError, problemOf, type Backend, type Device, type PreparedCase } from '@core/backend'
import type { BenchmarkCase, Dtype, Params } from '@core/case'
import { presetIdSchema, PRESETS, type PresetId } from '@core/measure/settings'
import { inlinePool } from '@core/measure/verify/pool'
import { createVerifier } from '@core/measure/verify/verify'
import { outputsOf } from '@core/ops/define'
import { getOp } from '@core/ops/registry'
import { createRandom } from '@core/stats/random'
import { fakeBackend } from '../../main/backends/fake'
import { nativeBackends } from '../../main/backends/native'
import { describe } from './proof/bed'
import { capture, FAULTS, REAL_FAULTS, WHOLE_FAULTS, withFault, withOutput } from './proof/faults'
import type { Bench, BenchContext, Figure, Outcome } from './bench'

/** Outputs of 1,000 to 2^26 elements; quick where the budget of a quick sweep leads to projections. */
const CASES: readonly [op: string, params: Params, preset?: PresetId][] = [
  ['add', { n: 1000 }], ['add', { n: 2 ** 20 }], ['add', { n: 2 ** 26 }],
  ['gelu', { n: 1000 }], ['gelu', { n: 2 ** 20 }],
  ['softmax', { rows: 10, cols: 100 }], ['softmax', { rows: 10_000, cols: 100 }],
  ['layer_norm', { tokens: 10, dim: 100 }], ['layer_norm', { tokens: 1024, dim: 1024 }],
  ['sum', { rows: 1000, cols: 100, axis: 'last' }], ['sum', { rows: 64, cols: 2 ** 17, axis: 'first' }],
  ['argmax', { rows: 1000, cols: 100, axis: 'last' }], ['argmax', { rows: 2 ** 18, cols: 16, axis: 'last' }],
  ['matmul', { m: 40, n: 25, k: 64 }], ['matmul', { m: 1024, n: 1024, k: 256 }], ['matmul', { m: 1024, n: 1024, k: 2048 }, 'quick'],
  ['conv2d', { batch: 1, channels: 16, height: 12, filters: 16, kernelHeight: 3 }], ['conv2d', { batch: 8, channels: 128, height: 28, filters: 128, kernelHeight: 3 }, 'quick'],
  ['scaled_dot_product_attention', { batch: 1, heads: 2, seqQ: 40, headDim: 32 }], ['scaled_dot_product_attention', { batch: 2, heads: 8, seqQ: 1024, headDim: 64, causal: true }],
  ['dropout', { n: 1000 }], ['dropout', { n: 2 ** 20 }],
  ['cumsum', { rows: 10, cols: 100 }], ['cumsum', { rows: 1024, cols: 1024 }],
  ['transpose', { rows: 40, cols: 25 }], ['transpose', { rows: 1024, cols: 1024 }],
]
const DTYPES: readonly Dtype[] = ['f32', 'f16', 'bf16']
/** With more outputs, faults are shared out among jobs, since one check takes seconds; f16 stands between the other two and is left out. */
const LARGE = 2 ** 22
/** A write beyond the end leaves the output right: the guard bands of the native backends tell. Buffers are the same for all operations; the kernel that writes is one of add. */
const BEYOND = 'a write one element beyond the end'

/** Part of the work, for one process: faults of one case, or writes beyond the end. */
type Job = { kind: 'case'; op: string; params: Params; dtype: Dtype; preset: PresetId | undefined; faults: readonly string[] } | { kind: 'beyond' }
type Row = Record<string, string | number>

const elementsOf = (op: string, params: Params) => outputsOf(getOp(op), getOp(op).params.parse(params), 'f32')[0]!.elements

/** Rounding to bf16 is right in bf16, and indices are no real numbers. */
function faultsOf(op: string, params: Params, dtype: Dtype): string[] {
  const indices = outputsOf(getOp(op), getOp(op).params.parse(params), dtype)[0]!.storage === 'i32'
  return Object.keys(FAULTS).filter((fault) => !(fault === 'bf16 arithmetic' && dtype === 'bf16') && !(indices && REAL_FAULTS.includes(fault)))
}

/** Every job, those that take longest first. */
function jobsOf(args: Readonly<Record<string, string>>, guarded: boolean): Job[] {
  const jobs = CASES.filter(([op, params]) => (args['op'] === undefined || args['op'].split(',').includes(op)) && elementsOf(op, params) >= Number(args['least'] ?? 0) && elementsOf(op, params) <= Number(args['most'] ?? Infinity)).flatMap(([op, params, preset]) =>
    DTYPES.filter((dtype) => getOp(op).dtypes.includes(dtype) && !(dtype === 'f16' && elementsOf(op, params) > LARGE)).flatMap((dtype): Job[] => {
      const faults = faultsOf(op, params, dtype)
      const parts = elementsOf(op, params) > LARGE ? faults.map((fault) => [fault]) : [faults]
      return parts.map((part) => ({ kind: 'case', op, params, dtype, preset, faults: part }))
    }),
  )
  const weight = (job: Job) => (job.kind === 'case' ? elementsOf(job.op, job.params) * getOp(job.op).referenceCost(getOp(job.op).params.parse(job.params)) : 0)
  return [...jobs.sort((a, b) => weight(b) - weight(a)), ...(guarded && args['op'] === undefined ? [{ kind: 'beyond' } as const] : [])]
}

function backendOf(name: string): Backend {
  if (name === 'fake') return fakeBackend({})
  const { backends, problem } = nativeBackends()
  const backend = backends.find(({ id }) => id === name)
  if (!backend) throw new Error(problem ?? `there is no backend "${name}"; found ${backends.map(({ id }) => id).join(', ')} and fake`)
  return backend
}

interface Settings {
  seed: number
  trials: number
  /** Seconds that the trials of one job may take; at least ten trials of a fault are made whatever it is. */
  seconds: number
  /** Threads that verification has in the app on this machine: its work is theirs together. */
  lanes: number
  preset: PresetId
}

async function faultsOfCase(job: Job & { kind: 'case' }, backend: Backend, device: Device, settings: Settings): Promise<Row[]> {
  const { op, params, dtype } = job
  const impl = device.impls.filter((one) => one.available.ok && !one.id.startsWith('red-') && one.kernels[op]?.includes(dtype)).toSorted((a, b) => Number(b.preferred) - Number(a.preferred))[0]
  const threads = device.threads.at(-1)
  // Where the device has no kernel in this dtype, the outputs are the rounded reference.
  const c: BenchmarkCase = impl ? { op, params, dtype, backend: device.backend, impl: impl.id, device: device.id, mode: 'hot', ...(threads ? { threads } : {}) } : { op, params, dtype, backend: 'fake', impl: 'steady', device: 'fake:0', mode: 'hot' }
  const problem = problemOf(getOp(op), c, settings.seed >>> 1)
  const prepared = await (impl ? backend : fakeBackend({})).open(problem)
  const captured = await capture(prepared, problem)
  await prepared.dispose()
  const elements = captured.right.length
  const served = withOutput(prepared, captured)
  const random = createRandom((settings.seed ^ elements) >>> 0)
  const work = PRESETS[job.preset ?? settings.preset].verifyWork * settings.lanes
  const check = () => createVerifier(getOp(op), c, problem.seed, work, { pool: inlinePool, sampleSeed: Math.floor(random() * 2 ** 32) }).check(served, 'before', () => Promise.resolve())
  const rows: Row[] = []
  const last = await check()
  const record = (fault: string, refused: number, trials: number) =>
    rows.push({ op, backend: c.backend, case: describe(c).replace(' hot', ''), dtype, elements, method: last.method ?? '', block: last.blockElements ?? 0, fault, trials, refused, share: refused / Math.max(1, trials) })
  const from = performance.now()
  await check()
  const checkSeconds = Math.max(1e-5, (performance.now() - from) / 1000)
  const affordable = Math.max(10, Math.floor(settings.seconds / job.faults.length / checkSeconds))
  const trials = Math.min(settings.trials, affordable)
  let alarms = Number(!last.ok)
  // Jobs of one fault each check the right output again and again.
  const controls = Math.min(trials, job.faults.length === 1 ? 3 : 20)
  for (let i = 1; i < controls; i++) alarms += Number(!(await check()).ok)
  record('none', alarms, controls)
  for (const fault of job.faults) {
    let [made, refused] = [0, 0]
    const tries = WHOLE_FAULTS.includes(fault) && elements > 2 ** 16 ? Math.min(trials, 10) : trials
    for (let trial = 0; trial < tries; trial++) {
      const { changed, value } = await withFault(captured, FAULTS[fault]!, random, check)
      if (!changed) continue
      made++
      if (!value.ok) refused++
    }
    if (made > 0) record(fault, refused, made)
  }
  return rows
}

/** The kernel of add that writes one element too many, on vectors of 1 to 100,000 elements, and an honest one beside it. */
async function writesBeyond(backend: Backend, device: Device, { seed, trials }: Settings): Promise<Row[]> {
  const random = createRandom(seed)
  const honest = device.impls.find(({ preferred }) => preferred)!
  const refusedBy = async (impl: string): Promise<boolean> => {
    const c: BenchmarkCase = { op: 'add', params: { n: 1 + Math.floor(random() * 100_000) }, dtype: 'f32', backend: device.backend, impl, device: device.id, mode: 'hot', ...(device.threads.length > 0 ? { threads: device.threads.at(-1)! } : {}) }
    const prepared: PreparedCase = await backend.open(problemOf(getOp('add'), c, seed >>> 1))
    try {
      await prepared.poison()
      await prepared.run()
      await prepared.scan()
      return false
    } catch (error) {
      if (!(error instanceof CaseError) || error.code !== 'kernel-failed') throw error
      return true
    } finally {
      await prepared.dispose()
    }
  }
  const rows: Row[] = []
  for (const [fault, impl, count] of [['none', honest.id, Math.min(20, trials)], [BEYOND, 'red-beyond', trials]] as const) {
    let refused = 0
    for (let trial = 0; trial < count; trial++) refused += Number(await refusedBy(impl))
    rows.push({ op: 'add', backend: device.backend, case: `add of up to 100,000 elements, ${impl}`, dtype: 'f32', elements: 100_000, method: 'guard bands', block: 0, fault, trials: count, refused, share: refused / count })
  }
  return rows
}

/** One job in a process of its own, by the command line that started this bench. */
function jobInProcess(index: number, words: readonly string[], folder: string): Promise<Row[]> {
  const results = join(folder, String(index))
  const child = spawn(process.execPath, [process.argv[1]!, 'red-team', `job=${index}`, ...words, `results=${results}`], { stdio: ['ignore', 'ignore', 'inherit'], env: process.env })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code) => {
      if (code !== 0) return reject(new Error(`job ${index} ended with ${String(code)}`))
      resolve((JSON.parse(readFileSync(join(results, 'red-team.json'), 'utf8')) as { rows: Row[] }).rows)
    })
  })
}

/** Shares over all cases, by fault and by how the outputs were checked. */
function figuresOf(rows: readonly Row[]): Figure[] {
  const total = (chosen: readonly Row[]) => {
    const [trials, refused] = (['trials', 'refused'] as const).map((field) => chosen.reduce((sum, row) => sum + Number(row[field]), 0)) as [number, number]
    return { trials, percent: (100 * refused) / Math.max(1, trials) }
  }
  const controls = total(rows.filter(({ fault }) => fault === 'none'))
  const figures: Figure[] = [{ name: `correct outputs refused (${controls.trials} checks)`, value: controls.percent, unit: '%', aim: 0, better: 'less', published: true }]
  for (const fault of [...Object.keys(FAULTS), BEYOND]) {
    for (const method of ['all', 'projection', 'sample', 'guard bands']) {
      const chosen = rows.filter((row) => row['fault'] === fault && row['method'] === method)
      if (chosen.length === 0) continue
      const { trials, percent } = total(chosen)
      figures.push({ name: `${fault}, ${method}: refused (${trials} trials)`, value: percent, unit: '%', published: true, ...(method === 'sample' ? {} : { aim: 100, better: 'more' as const }) })
    }
  }
  return figures
}

/** The rows of a run that was cut off, from the lines it had printed. */
function rowsPrinted(log: string): Row[] {
  return log.split('\n').flatMap((line) => {
    const [, what, dtype, method, faults] = /^ *(.+) (f32|f16|bf16) (all|projection|sample|guard bands): (none \d.*)$/.exec(line) ?? []
    if (what === undefined || faults === undefined) return []
    return faults.split(/, (?=[a-z])/).map((text): Row => {
      const [, fault, refused, trials] = /^(.+) (\d+)\/(\d+)$/.exec(text)!
      return { op: what.split(' ')[0]!, case: what, dtype: dtype!, method: method!, fault: fault!, trials: Number(trials), refused: Number(refused), share: Number(refused) / Number(trials) }
    })
  })
}

/**
 * Faults put into whole outputs of real kernels, which the product's own verification then looks at: up to `trials` of each (200) in every
 * case and dtype, from a printed seed, in as many processes as there are processors. backend=cpu|cuda|fake preset=standard op=add,matmul
 * least=1000 most=1e6 (outputs) seconds=30 (for the trials of a job) processes=16. from=LOG: the lines printed by a run that was cut off.
 */
const bench: Bench = (context) => redTeam(context)
export default bench

/** The same with a backend that serves this process alone. */
export async function redTeam({ args, say }: BenchContext, only?: Backend): Promise<Outcome> {
  if (args['from'] !== undefined) {
    const rows = rowsPrinted(readFileSync(args['from'], 'utf8'))
    return { figures: figuresOf(rows), rows }
  }
  const cores = availableParallelism()
  const settings: Settings = { seed: Number(args['seed'] ?? Date.now() % 2 ** 32), trials: Number(args['trials'] ?? 200), seconds: Number(args['seconds'] ?? 30), lanes: Number(args['lanes'] ?? Math.min(16, cores)), preset: presetIdSchema.parse(args['preset'] ?? 'standard') }
  process.env['OPSCOPE_RED_TEAM'] = '1'
  const name = args['backend'] ?? 'cpu'
  const backend = only ?? backendOf(name)
  const device = (await backend.devices()).find(({ available }) => available.ok)
  if (!device) throw new Error(`no device of ${name} is available`)
  const jobs = jobsOf(args, device.impls.some(({ id }) => id === 'red-beyond'))
  const here = (job: Job) => (job.kind === 'case' ? faultsOfCase(job, backend, device, settings) : writesBeyond(backend, device, settings))
  if (args['job'] !== undefined) return { figures: [], rows: await here(jobs[Number(args['job'])]!) }
  const processes = only ? 1 : Number(args['processes'] ?? cores)
  say(`seed ${settings.seed}, ${jobs.length} jobs in ${processes} processes`)
  const { results: _, ...passed } = args
  const words = Object.entries({ ...passed, seed: settings.seed, lanes: settings.lanes }).map(([key, value]) => `${key}=${value}`)
  const folder = mkdtempSync(join(tmpdir(), 'opscope-red-team-'))
  const found: Row[][] = []
  try {
    let next = 0
    const worker = async () => {
      while (next < jobs.length) {
        const index = next++
        const rows = await (only ? here(jobs[index]!) : jobInProcess(index, words, folder))
        found[index] = rows
        const { case: what, dtype, method } = rows[0]!
        say(`${String(what)} ${String(dtype)} ${String(method)}: ${rows.map((row) => `${String(row['fault'])} ${row['refused']}/${row['trials']}`).join(', ')}`)
      }
    }
    await Promise.all(Array.from({ length: processes }, worker))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const rows = found.flat()
  return { figures: figuresOf(rows), rows: rows.map((row) => ({ seed: settings.seed, ...row })), devices: [device] }
}
