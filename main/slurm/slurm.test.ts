import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { onMachines } from '@core/fleet/collect'
import { testCase, testDevice, testResult, testSession } from '@core/testing'
import { collectTasks, copyDatabase } from './collect'
import { planText, readPlan, shardSession } from './plan'
import { batchScript, type JobOptions } from './script'
import { openHistory } from '../history'

const job: JobOptions = { tasks: 20, folder: '/scratch/me/sweep', command: ['/opt/opscope/bin/opscope'], gres: 'gpu:1', exclusive: true }

describe('the batch script', () => {
  test('is an array whose tasks measure a shard each into a history of their own, on a node of their own', () => {
    expect(batchScript({ ...job, partition: 'h200', time: '02:00:00', account: 'kernels', extra: ['--qos=long'] })).toBe(`#!/bin/sh
#SBATCH --job-name=opscope
#SBATCH --array=1-20
#SBATCH --gres=gpu:1
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=/scratch/me/sweep/task-%a.log
#SBATCH --partition=h200
#SBATCH --time=02:00:00
#SBATCH --account=kernels
#SBATCH --qos=long

# Each task has a history of its own: results are on disk before the next case begins.
export OPSCOPE_DATA_DIR=/scratch/me/sweep/task-$SLURM_ARRAY_TASK_ID
exec /opt/opscope/bin/opscope run --plan /scratch/me/sweep/plan.json --shard "$SLURM_ARRAY_TASK_ID/20"
`)
    expect(batchScript({ ...job, gres: 'none', exclusive: false })).not.toMatch(/gres|exclusive/)
  })

  test('runs what was asked for, whatever characters the program has', () => {
    const folder = mkdtempSync(join(tmpdir(), 'opscope-job-'))
    const program = join(folder, "an o'dd $(touch x) name")
    writeFileSync(program, '#!/bin/sh\nprintf "%s|" "$OPSCOPE_DATA_DIR" "$@"\n', { mode: 0o755 })
    const { stdout, status } = spawnSync('sh', ['-c', batchScript({ ...job, folder, command: [program, 'a b'] })], { encoding: 'utf8', env: { SLURM_ARRAY_TASK_ID: '7' } })
    expect([status, stdout]).toEqual([0, `${folder}/task-7|a b|run|--plan|${folder}/plan.json|--shard|7/20|`])
  })

  test.each([
    ['tasks', { tasks: 0 }], ['tasks', { tasks: 1.5 }], ['folder', { folder: '/a b' }], ['folder', { folder: '/a\n#SBATCH --uid=0' }], ['folder', { folder: 'relative' }], ['partition', { partition: 'x\nrm -rf /' }], ['time', { time: '1 2' }], ['gres', { gres: 'gpu:1;x' }], ['sbatch', { extra: ['--wrap=x y'] }], ['sbatch', { extra: ['-p'] }],
  ])('refuses %s that cannot stand in it: %j', (_what, change) => expect(() => batchScript({ ...job, ...change })).toThrow(RangeError))
})

describe('a plan', () => {
  const folder = () => mkdtempSync(join(tmpdir(), 'opscope-plan-'))

  test('is read back as written, and refused with the reason where it is none', () => {
    const path = join(folder(), 'plan.json')
    writeFileSync(path, planText({ name: 'Sweep', tasks: 3, options: { ops: 'add', backends: 'cpu' } }))
    expect(readPlan(path)).toMatchObject({ name: 'Sweep', tasks: 3, options: { ops: 'add', backends: 'cpu' } })
    for (const options of [{ rounds: true }, { energy: 'on' }]) {
      writeFileSync(path, planText({ name: 'Sweep', tasks: 3, options }))
      expect(readPlan(path).options).toEqual(options)
    }
    writeFileSync(path, JSON.stringify({ opscopePlan: 1, name: 'x', tasks: 1, options: { ops: 'add', program: '/bin/sh' } }))
    expect(() => readPlan(path)).toThrow(/cannot read the plan .*plan\.json: .*"program"/s)
    expect(() => readPlan('/nowhere')).toThrow('cannot read the plan /nowhere: there is no such file')
  })

  test('is collected into one session in which each result names its machine, with what is left told', () => {
    const at = folder()
    writeFileSync(join(at, 'plan.json'), planText({ name: 'Sweep', tasks: 4, options: {} }))
    const plan = readPlan(join(at, 'plan.json'))
    const put = (index: number, host: string, n: number, planned: number) => {
      mkdirSync(join(at, `task-${index}`))
      const { history } = openHistory(join(at, `task-${index}`, 'history.sqlite'))
      const file = testSession([])
      const session = history.createSession({ name: shardSession(plan, { index, count: 4 }), environment: { ...file.environment, host }, settings: file.session.settings!, cases: Array.from({ length: planned }, (_, i) => testCase({ params: { n: index * 100 + i } })) })
      for (let i = 0; i < n; i++) history.addResult(session.id, testResult({ id: `r${index}-${i}`, case: testCase({ params: { n: index * 100 + i } }) }))
      history.close()
    }
    put(1, 'node1.cluster', 2, 2)
    put(2, 'node2.cluster', 1, 3)
    mkdirSync(join(at, 'task-3'))
    writeFileSync(join(at, 'task-3', 'history.sqlite'), 'not a database')
    const { tasks, file } = collectTasks(plan, at)
    expect(tasks.map(({ state, results, left, host }) => [state, results, left, host])).toEqual([['complete', 2, 0, 'node1.cluster'], ['incomplete', 1, 2, 'node2.cluster'], [expect.stringMatching(/unreadable|waiting/), 0, 0, undefined], ['waiting', 0, 0, undefined]])
    expect(file?.results.map(({ case: c }) => c.device)).toEqual(['node1/cpu', 'node1/cpu', 'node2/cpu'])
    expect(file?.environment.devices.map(({ id, host }) => [id, host])).toEqual([['node1/cpu', 'node1'], ['node2/cpu', 'node2']])
    expect(file?.session).toMatchObject({ state: 'stopped', planned: 5, about: { kind: 'merged' } })
  })

  test('a database that is written while it is copied is copied again, with its log', () => {
    const at = folder()
    const [from, to] = [join(at, 'a'), join(at, 'b')]
    writeFileSync(from, 'old')
    writeFileSync(`${from}-wal`, 'log of old')
    let copies = 0
    copyDatabase(from, to, (one, other) => {
      copyFileSync(one, other)
      // Its writer moves the log into it, and begins another.
      if (copies++ === 0) writeFileSync(from, 'newer')
      if (copies === 1) writeFileSync(`${from}-wal`, 'log of newer')
    })
    expect([readFileSync(to, 'utf8'), readFileSync(`${to}-wal`, 'utf8'), copies]).toEqual(['newer', 'log of newer', 4])
    let turn = 0
    expect(() => copyDatabase(from, to, () => writeFileSync(from, 'x'.repeat(++turn)))).toThrow('it is being written all the time')
  })

  test('a result that comes twice counts once', () => {
    const part = { host: 'a', environment: { ...testSession([]).environment, devices: [testDevice()] }, results: [testResult()], createdAt: '2026-01-01T00:00:00.000Z' }
    expect(onMachines({ id: 'x', name: 'x', state: 'done', left: 0, notes: '' }, [part, part]).results).toHaveLength(1)
  })
})
