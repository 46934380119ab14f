import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { presetSettings } from '@core/measure/settings'
import { estimateSeconds } from '@core/sweep/estimate'
import { planSweep } from '@core/sweep/plan'
import type { SweepSpec } from '@core/session/sweep-spec'
import { median } from '@core/stats/descriptive'
import { openHistory } from '../../main/history'
import { nativeHostKind } from '../../main/measurement/host'
import { createRunner } from '../../main/runner'
import { loadFigure, type Bench } from './bench'

/** Ten runs make a history; what it says of the next five is judged, because one run of this sweep may take twice what another takes on a shared machine. */
const RUNS = 10
const JUDGED = 5

/** Small and large shapes of three kinds: a stream, rows, and a product whose verification outweighs its samples. */
const spec: SweepSpec = {
  ops: [{ op: 'add' }, { op: 'softmax' }, { op: 'matmul' }],
  sizes: { vector: '65536, 16777216', matrix: '256x256, 2048x2048', gemm: '64x64x64, 1024x1024x1024' },
  dtypes: ['f32'],
  targets: [{ backend: 'cpu', device: 'cpu', impls: ['avx2'] }],
  modes: ['hot', 'cold'],
  preset: 'quick',
}

/** What a run was estimated to take over what it took, before each of fifteen runs of one sweep, the first without a history. Any number of Pythons may be beside. */
const bench: Bench = async ({ args, say }) => {
  const folder = mkdtempSync(join(tmpdir(), 'opscope-bench-'))
  const { history } = openHistory(join(folder, 'history.sqlite'))
  const runner = createRunner({ history, settings: () => ({}), hostKinds: [nativeHostKind()] })
  const wanted = { ...spec, targets: spec.targets.map((target) => ({ ...target, impls: [args['impl'] ?? 'avx2'] })) }
  const rows: { run: number; estimatedSeconds: number; seconds: number }[] = []
  try {
    for (let run = 0; run < RUNS + JUDGED; run++) {
      const devices = await runner.devices(true)
      const plan = planSweep(wanted, devices)
      const estimatedSeconds = estimateSeconds(plan.cases, presetSettings(wanted.preset, undefined), history.ceilings(), devices)
      const ended = new Promise<void>((resolve) => {
        const off = runner.on('ended', () => {
          off()
          resolve()
        })
      })
      const from = performance.now()
      await runner.start(wanted)
      await ended
      const seconds = (performance.now() - from) / 1000
      say(`run ${run}: estimated ${estimatedSeconds.toFixed(1)} s, took ${seconds.toFixed(1)} s`)
      rows.push({ run, estimatedSeconds, seconds })
    }
  } finally {
    await runner.dispose()
    history.close()
    rmSync(folder, { recursive: true })
  }
  const apart = ({ estimatedSeconds, seconds }: (typeof rows)[number]) => Math.max(estimatedSeconds / seconds, seconds / estimatedSeconds)
  const judged = rows.slice(RUNS).map(apart)
  return {
    figures: [
      { name: 'run took over its estimate without a history', value: rows[0]!.seconds / rows[0]!.estimatedSeconds, unit: 'x', published: true },
      { name: `run and its estimate after ${RUNS} runs, the larger over the smaller, median of ${JUDGED} runs`, value: median(judged)!, unit: 'x', aim: 1.3, better: 'less' },
      { name: `run and its estimate after ${RUNS} runs, the larger over the smaller, most of ${JUDGED} runs`, value: Math.max(...judged), unit: 'x', published: true },
      loadFigure(),
    ],
    rows,
  }
}
export default bench
