import { performance } from 'node:perf_hooks'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CaseError, problemOf } from '@core/backend'
import type { BenchmarkCase, Params } from '@core/case'
import { firstSeed, measureCase } from '@core/measure/measure-case'
import { presetIdSchema, PRESETS } from '@core/measure/settings'
import { inlinePool } from '@core/measure/verify/pool'
import { elementsOf } from '@core/ops/define'
import { OPS } from '@core/ops/registry'
import { tensorsOf } from '@core/ops/define'
import type { Op } from '@core/ops/types'
import { createRandom } from '@core/stats/random'
import { nativeBackends } from '../../main/backends/native'
import { nodeVerifyPool } from '../../main/measurement/verify-pool'
import { loadFigure, type Bench } from './bench'

/** Sizes of an op with about so many elements in all its tensors, from its size form's extents: even powers of two. */
function paramsNear(op: Op, elements: number): Params | undefined {
  const wanted = op.size.extents.filter(({ default: usual }) => usual === undefined)
  for (let bits = 30; bits > 0; bits--) {
    const params = { ...Object.fromEntries(wanted.map(({ name }) => [name, Math.max(1, 2 ** Math.floor(bits / wanted.length))])), ...Object.fromEntries(Object.entries(op.attributes).flatMap(([name, spec]) => (spec.kind === 'choice' && spec.default === undefined ? [[name, spec.words.at(-1)!]] : []))) }
    const parsed = op.params.safeParse(params)
    if (!parsed.success) continue
    const size = tensorsOf(op, parsed.data, 'f32').reduce((sum, { shape }) => sum + elementsOf(shape), 0)
    if (size <= elements && op.flops(parsed.data) <= 64 * elements * Math.sqrt(elements)) return params
  }
  return undefined
}

/** What set-up (opening, allocating, filling) and verification take of a sweep over the catalogue: preset=standard, backend=cpu, devices' default implementation, mode hot, f32, tensors of 2^10, 2^16, 2^22 elements. seconds=120 ends it after so long, with a sample of the catalogue. */
const bench: Bench = async ({ args, say }) => {
  const settings = PRESETS[presetIdSchema.parse(args['preset'] ?? 'standard')]
  const { backends, problem } = nativeBackends()
  const backend = backends.find(({ id }) => id === (args['backend'] ?? 'cpu'))
  const device = (await backend?.devices())?.find(({ available }) => available.ok)
  if (!backend || !device) throw new Error(problem ?? `${args['backend'] ?? 'cpu'} is not available`)
  const program = join(process.cwd(), 'out', 'main', 'verify.js')
  const pool = existsSync(program) ? nodeVerifyPool(program) : inlinePool
  const rows: Record<string, string | number>[] = []
  const planned = OPS.flatMap((op) => {
    const impl = device.impls.filter((one) => one.available.ok && one.kernels[op.id]?.includes('f32')).toSorted((a, b) => Number(b.preferred) - Number(a.preferred))[0]
    if (!impl || (args['op'] !== undefined && !args['op'].split(',').includes(op.id))) return []
    return (args['bits'] ?? '10,16,22').split(',').flatMap((bits) => {
      const params = paramsNear(op, 2 ** Number(bits))
      return params ? [{ op, impl, bits: Number(bits), params }] : []
    })
  })
  // In any order, so that a limit of the time leaves a sample of the catalogue.
  const random = createRandom(1)
  const order = planned.map((one) => ({ one, key: random() })).sort((a, b) => a.key - b.key)
  const beganMs = performance.now()
  for (const { one: { op, impl, bits, params } } of order) {
    if (performance.now() - beganMs > 1000 * Number(args['seconds'] ?? Infinity)) break
    const threads = device.threads.at(-1)
    const c: BenchmarkCase = { op: op.id, params, dtype: 'f32', backend: device.backend, impl: impl.id, device: device.id, mode: 'hot', ...(threads ? { threads } : {}) }
    const startedMs = performance.now()
    try {
      const prepared = await backend.open(problemOf(op, c, firstSeed(settings.seed)))
      let [phase, since] = ['preparing', startedMs]
      const spent: Record<string, number> = {}
      const enter = (next: string) => {
        const now = performance.now()
        spent[phase] = (spent[phase] ?? 0) + now - since
        ;[phase, since] = [next, now]
      }
      const result = await measureCase({ op, case: c, prepared, settings, startedMs, filledSeed: firstSeed(settings.seed), resultId: 'cost', pool, sampleSeed: bits, onProgress: ({ phase: next }) => enter(next) })
      enter('done')
      await prepared.dispose()
      const verifyMs = (spent['verifying'] ?? 0) + (spent['checking'] ?? 0)
      const setupMs = spent['preparing'] ?? 0
      rows.push({ op: op.id, bits, status: result.status, method: result.verification?.method ?? '', coverage: result.verification?.coverage ?? 0, wallMs: result.wallMs, setupMs, verifyMs })
      say(`${op.id} 2^${bits} ${result.status}: set-up ${setupMs.toFixed(0)}, verification ${verifyMs.toFixed(0)} of ${result.wallMs.toFixed(0)} ms (${result.verification?.method ?? ''})`)
    } catch (error) {
      if (!(error instanceof CaseError)) throw error
      say(`${op.id} 2^${bits}: ${error.message}`)
    }
  }
  const sum = (field: 'wallMs' | 'setupMs' | 'verifyMs', of = rows) => of.reduce((total, row) => total + Number(row[field]), 0)
  const share = (of = rows) => (100 * (sum('setupMs', of) + sum('verifyMs', of))) / sum('wallMs', of)
  const largest = rows.filter(({ bits }) => bits === Math.max(...rows.map((row) => Number(row['bits']))))
  return {
    figures: [
      { name: `cases, of ${planned.length} in the catalogue`, value: rows.length, unit: '', published: true },
      { name: 'wall time', value: sum('wallMs') / 1000, unit: 's' },
      { name: 'set-up and verification, of the wall time', value: share(), unit: '%', aim: 25, better: 'less', published: true },
      { name: 'set-up alone', value: (100 * sum('setupMs')) / sum('wallMs'), unit: '%', published: true },
      { name: 'set-up and verification, of the wall time of the largest cases', value: share(largest), unit: '%', published: true },
      loadFigure(),
    ],
    rows,
    devices: [device],
  }
}
export default bench
