import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Mode } from '@core/case'
import type { Result } from '@core/result'
import type { SweepSpec } from '@core/session/sweep-spec'
import { openHistory } from '../../main/history'
import { nativeHostKind } from '../../main/measurement/host'
import { createRunner } from '../../main/runner'
import type { History } from '../../main/history/types'
import type { Runner } from '../../main/runner/types'
import { loadFigure, type Bench, type Figure } from './bench'

const OPS = ['copy', 'add', 'mul', 'exp', 'gelu']
const IMPLS = ['scalar', 'sse2']

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN

/** A quick sweep of `count` CPU cases in one mode, and what it took in ms. */
async function sweep(runner: Runner, history: History, mode: Mode, count: number) {
  const sizes = Math.ceil(count / OPS.length / IMPLS.length)
  const spec: SweepSpec = {
    ops: OPS.map((op) => ({ op })),
    sizes: { vector: `1000..${sizes * 1000} step 1000`, matrix: '', gemm: '' },
    dtypes: ['f32'],
    targets: [{ backend: 'cpu', device: 'cpu', impls: IMPLS, threads: [1] }],
    modes: [mode],
    preset: 'quick',
  }
  const ended = new Promise<void>((resolve) => {
    const off = runner.on('ended', () => {
      off()
      resolve()
    })
  })
  const cpuBefore = process.cpuUsage()
  const from = performance.now()
  const { sessionId } = await runner.start(spec)
  await ended
  const wallMs = performance.now() - from
  const cpu = process.cpuUsage(cpuBefore)
  return { wallMs, cpuMs: (cpu.user + cpu.system) / 1000, results: [...history.results(sessionId)] }
}

/**
 * Measured time is the sum of the durations of all samples that count (result.measuredMs). Everything else is overhead:
 * opening the case, filling inputs, verification before and after, calibration and warm-up, clock reads and the stopping
 * rule, in cold mode the flush before every sample, then the message to the runner and the durable write to the history.
 */
function figuresOf(mode: Mode, { wallMs, cpuMs, results }: Awaited<ReturnType<typeof sweep>>, aim?: number): Figure[] {
  const sum = (of: (result: Result) => number) => results.reduce((total, result) => total + of(result), 0)
  const [measuredMs, casesMs] = [sum((r) => r.measuredMs), sum((r) => r.wallMs)]
  const longer = (all: number, than: number) => (all / than - 1) * 100
  const figures: Figure[] = [
    { name: 'cases', value: results.length, unit: '' },
    { name: 'cases that are ok', value: results.filter((r) => r.status === 'ok').length, unit: '' },
    { name: 'cases that did not converge', value: results.filter((r) => r.converged === false).length, unit: '' },
    { name: 'wall time of the sweep', value: wallMs / 1000, unit: 's' },
    { name: 'measured time (sum of the durations of all samples)', value: measuredMs / 1000, unit: 's' },
    { name: 'wall time of the cases in the measurement process', value: casesMs / 1000, unit: 's' },
    { name: 'sweep longer than its measured time', value: longer(wallMs, measuredMs), unit: '%', ...(aim === undefined ? {} : { aim, better: 'less' as const }) },
    { name: 'median case longer than its measured time (set-up, verification, warm-up, flushes)', value: median(results.map((r) => longer(r.wallMs, r.measuredMs))), unit: '%' },
    { name: 'sweep longer than its cases (planning, messages, durable writes)', value: longer(wallMs, casesMs), unit: '%' },
    { name: 'outside the measurement process, per case', value: (wallMs - casesMs) / results.length, unit: 'ms' },
    { name: 'processor time of the runner, per case', value: cpuMs / results.length, unit: 'ms' },
  ]
  return figures.map((figure) => ({ ...figure, name: `${mode}: ${figure.name}` }))
}

/** How much longer a quick CPU sweep takes than it measures, through the built worker (npm run build) and a real history; hot and cold apart. */
const bench: Bench = async ({ args, say }) => {
  const count = Number(args['count'] ?? 500)
  const folder = mkdtempSync(join(tmpdir(), 'opscope-bench-'))
  const { history } = openHistory(join(folder, 'history.sqlite'))
  const runner = createRunner({ history, settings: () => ({}), hostKinds: [nativeHostKind()] })
  try {
    await runner.devices(false)
    say(`${count} hot cases`)
    const hot = figuresOf('hot', await sweep(runner, history, 'hot', count), 15)
    say(`${Math.ceil(count / 5)} cold cases`)
    // A cold sample of a small case is a flush of the last-level cache and then microseconds of the case: no aim is set.
    const cold = figuresOf('cold', await sweep(runner, history, 'cold', Math.ceil(count / 5)))
    return [...hot, ...cold, loadFigure()]
  } finally {
    await runner.dispose()
    history.close()
    rmSync(folder, { recursive: true })
  }
}
export default bench
