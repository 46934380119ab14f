import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SweepSpec } from '@core/sweep/types'
import { openHistory } from '../../main/history'
import { nativeHostKind } from '../../main/measurement/host'
import { createRunner } from '../../main/runner'
import type { RunnerEvents } from '../../main/runner/types'
import type { Bench } from './bench'

const OPS = ['copy', 'add', 'mul', 'exp', 'gelu']
const IMPLS = ['scalar', 'sse2']

/** How much longer a quick CPU sweep takes than it measures, through the built worker (npm run build) and a real history. */
const bench: Bench = async ({ args, say }) => {
  const count = Number(args['count'] ?? 500)
  const folder = mkdtempSync(join(tmpdir(), 'opscope-bench-'))
  const { history } = openHistory(join(folder, 'history.sqlite'))
  const runner = createRunner({ history, hostKinds: [nativeHostKind()] })
  try {
    await runner.devices(false)
    const sizes = Math.ceil(count / OPS.length / IMPLS.length)
    const spec: SweepSpec = {
      ops: OPS.map((op) => ({ op })),
      sizes: { vector: `1000..${sizes * 1000} step 1000`, matrix: '', gemm: '' },
      dtypes: ['f32'],
      targets: [{ backend: 'cpu', device: 'cpu', impls: IMPLS, threads: [1] }],
      modes: ['hot'],
      preset: 'quick',
    }
    const ended = new Promise<RunnerEvents['ended']>((resolve) => runner.on('ended', resolve))
    const cpuBefore = process.cpuUsage()
    const from = performance.now()
    const { sessionId } = await runner.start(spec)
    say(`${runner.state().total} cases`)
    await ended
    const wallMs = performance.now() - from
    const cpu = process.cpuUsage(cpuBefore)
    const results = [...history.results(sessionId)]
    const sum = (of: (result: (typeof results)[number]) => number) => results.reduce((total, result) => total + of(result), 0)
    const [measuredMs, casesMs] = [sum((r) => r.measuredMs), sum((r) => r.wallMs)]
    const longer = (than: number) => (wallMs / than - 1) * 100
    return [
      { name: 'cases', value: results.length, unit: '' },
      { name: 'cases that are ok', value: results.filter((r) => r.status === 'ok').length, unit: '' },
      { name: 'cases that reached the limit of sampling time', value: results.filter((r) => r.converged === false).length, unit: '' },
      { name: 'wall time of the sweep', value: wallMs / 1000, unit: 's' },
      { name: 'sum of measured time (samples alone)', value: measuredMs / 1000, unit: 's' },
      { name: 'sum of case wall time (set-up, verification, warm-up, samples)', value: casesMs / 1000, unit: 's' },
      { name: 'sweep longer than its measured time', value: longer(measuredMs), unit: '%', aim: 15, better: 'less' },
      { name: 'sweep longer than its cases: planning, messages, history', value: longer(casesMs), unit: '%' },
      { name: 'per case outside the measurement process', value: (wallMs - casesMs) / results.length, unit: 'ms' },
      { name: 'processor time of the runner per case', value: (cpu.user + cpu.system) / 1000 / results.length, unit: 'ms' },
    ]
  } finally {
    await runner.dispose()
    history.close()
    rmSync(folder, { recursive: true })
  }
}
export default bench
