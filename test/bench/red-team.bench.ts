import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { problemOf, type Backend } from '@core/backend'
import type { BenchmarkCase, Dtype, Params } from '@core/case'
import { presetIdSchema, PRESETS } from '@core/measure/settings'
import { inlinePool, type VerifyPool } from '@core/measure/verify/pool'
import { createVerifier } from '@core/measure/verify/verify'
import { outputsOf } from '@core/ops/define'
import { getOp } from '@core/ops/registry'
import { createRandom } from '@core/stats/random'
import { fakeBackend } from '../../main/backends/fake'
import { nativeBackends } from '../../main/backends/native'
import { nodeVerifyPool } from '../../main/measurement/verify-pool'
import { describe } from './proof/bed'
import { capture, FAULTS, withFault, withOutput, type Captured } from './proof/faults'
import type { Bench, Figure } from './bench'

/** One case of a family for each number of outputs; largest last. */
const CASES: readonly [op: string, params: Params][] = [
  ['add', { n: 1000 }], ['add', { n: 2 ** 20 }], ['add', { n: 2 ** 26 }],
  ['gelu', { n: 1000 }], ['gelu', { n: 2 ** 20 }],
  ['softmax', { rows: 10, cols: 100 }], ['softmax', { rows: 10_000, cols: 100 }],
  ['layer_norm', { tokens: 10, dim: 100 }], ['layer_norm', { tokens: 1024, dim: 1024 }],
  ['sum', { rows: 1000, cols: 100, axis: 'last' }], ['sum', { rows: 64, cols: 2 ** 17, axis: 'first' }],
  ['matmul', { m: 40, n: 25, k: 64 }], ['matmul', { m: 1024, n: 1024, k: 256 }], ['matmul', { m: 4096, n: 4096, k: 64 }],
]
/** With this preset's work; a full check of more elements takes seconds a trial on a few processors. */
const LARGE = 2 ** 22

/** Rounding to bf16 is right in bf16, and inside what f16 and copies of bits allow only where the fault says so. */
const applies = (fault: string, dtype: Dtype) => !(fault === 'bf16 arithmetic' && dtype === 'bf16')

const elementsOfOutput = (op: string, params: Params) => outputsOf(getOp(op), getOp(op).params.parse(params), 'f32')[0]!.elements

function backendOf(name: string): Backend {
  if (name === 'fake') return fakeBackend({})
  const { backends, problem } = nativeBackends()
  const backend = backends.find(({ id }) => id === name)
  if (!backend) throw new Error(problem ?? `there is no backend "${name}"; found ${backends.map(({ id }) => id).join(', ')} and fake`)
  return backend
}

/**
 * Faults put into whole outputs of real kernels, which the product's own verification then looks at: `trials` of each (200),
 * `large` where there are more than 2^22 outputs (20), from a printed seed. backend=cpu|cuda|fake preset=standard
 * op=add,matmul least=1000000 (outputs) seconds=300 (after which no further case begins).
 */
const bench: Bench = async ({ args, say }) => {
  const seed = Number(args['seed'] ?? Date.now() % 2 ** 32)
  const random = createRandom(seed)
  const name = args['backend'] ?? 'cpu'
  const backend = backendOf(name)
  const device = (await backend.devices()).find(({ available }) => available.ok)
  if (!device) throw new Error(`no device of ${name} is available`)
  const program = join(process.cwd(), 'out', 'main', 'verify.js')
  const pool: VerifyPool = existsSync(program) ? nodeVerifyPool(program) : inlinePool
  const work = PRESETS[presetIdSchema.parse(args['preset'] ?? 'standard')].verifyWork
  say(`seed ${seed}, ${pool.lanes} threads, work ${work}`)
  const startedMs = performance.now()
  const figures: Figure[] = []
  const rows: Record<string, string | number>[] = []
  for (const [op, params] of CASES) {
    if (args['op'] !== undefined && !args['op'].split(',').includes(op)) continue
    if (elementsOfOutput(op, params) < Number(args['least'] ?? 0) || performance.now() - startedMs > 1000 * Number(args['seconds'] ?? Infinity)) continue
    for (const dtype of ['f32', 'f16', 'bf16'] as const) {
      const impl = device.impls.filter((one) => one.available.ok && one.kernels[op]?.includes(dtype)).toSorted((a, b) => Number(b.preferred) - Number(a.preferred))[0]
      const threads = device.threads.at(-1)
      // Where the device has no kernel in this dtype, the outputs are the rounded reference.
      const c: BenchmarkCase = impl ? { op, params, dtype, backend: device.backend, impl: impl.id, device: device.id, mode: 'hot', ...(threads ? { threads } : {}) } : { op, params, dtype, backend: 'fake', impl: 'steady', device: 'fake:0', mode: 'hot' }
      if (!impl && elementsOfOutput(op, params) > LARGE && dtype === 'f16') continue
      const problem = problemOf(getOp(op), c, seed >>> 1)
      const prepared = await (impl ? backend : fakeBackend({})).open(problem)
      const captured: Captured = await capture(prepared, problem)
      await prepared.dispose()
      const elements = captured.right.length
      const trials = elements > LARGE ? Number(args['large'] ?? 20) : Number(args['trials'] ?? 200)
      const served = withOutput(prepared, captured)
      let last: Awaited<ReturnType<ReturnType<typeof createVerifier>['check']>> | undefined
      const check = async () => (last = await createVerifier(getOp(op), c, problem.seed, work, { pool, sampleSeed: Math.floor(random() * 2 ** 32) }).check(served, 'before', () => Promise.resolve())).ok
      const record = (fault: string, refused: number, of: number) => {
        rows.push({ op, backend: c.backend, case: describe(c).replace(' hot', ''), dtype, elements, method: last?.method ?? '', block: last?.blockElements ?? 0, fault, trials: of, refused, share: refused / Math.max(1, of) })
      }
      let alarms = 0
      for (let i = 0; i < Math.min(trials, 20); i++) alarms += Number(!(await check()))
      record('none', alarms, Math.min(trials, 20))
      for (const [fault, change] of Object.entries(FAULTS)) {
        if (!applies(fault, dtype)) continue
        const wholeOutput = fault === 'bf16 arithmetic' || fault === 'the output of the previous seed'
        let [made, refused] = [0, 0]
        for (let trial = 0; trial < (wholeOutput && elements > 2 ** 16 ? Math.min(trials, 10) : trials); trial++) {
          const { changed, value: ok } = await withFault(captured, change, random, check)
          if (!changed) continue
          made++
          if (!ok) refused++
        }
        record(fault, refused, made)
      }
      const here = rows.filter((row) => row['case'] === describe(c).replace(' hot', '') && row['dtype'] === dtype)
      say(`${describe(c)} ${dtype} ${last?.method} ${here.map((row) => `${String(row['fault'])} ${String(row['refused'])}/${String(row['trials'])}`).join(', ')}`)
    }
  }
  const total = (of: (row: Record<string, string | number>) => boolean) => {
    const chosen = rows.filter(of)
    return chosen.reduce((sum, row) => sum + Number(row['refused']), 0) / Math.max(1, chosen.reduce((sum, row) => sum + Number(row['trials']), 0))
  }
  figures.push({ name: 'correct outputs refused', value: 100 * total((row) => row['fault'] === 'none'), unit: '%', aim: 0, better: 'less', published: true })
  for (const fault of Object.keys(FAULTS)) {
    for (const method of ['all', 'projection', 'sample']) {
      if (!rows.some((row) => row['fault'] === fault && row['method'] === method)) continue
      figures.push({ name: `${fault}, ${method}: refused`, value: 100 * total((row) => row['fault'] === fault && row['method'] === method), unit: '%', published: true, ...(method === 'all' ? { aim: 100, better: 'more' as const } : {}) })
    }
  }
  return { figures, rows: rows.map((row) => ({ seed, ...row })), devices: [device] }
}
export default bench
