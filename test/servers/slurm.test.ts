import { existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { caseId } from '@core/case'
import type { SessionFile, SessionSummary } from '@core/session/types'
import { Cli } from '../e2e/cli'
import { noSlurm, SlurmCluster } from './slurm-cluster'

const TASKS = 20
const SIZES = Array.from({ length: 3 * TASKS }, (_, i) => 1000 + i).join(',')
const sweep = ['--backends', 'cpu', '--ops', 'add', '--sizes', `vector=${SIZES}`, '--impls', 'scalar', '--threads', '1', '--modes', 'hot', '--rule', 'fixed-time=0.5s']
const folder = () => join(mkdtempSync(join(tmpdir(), 'opscope-sweep-')), 'sweep')

let cluster: SlurmCluster | undefined
afterEach(() => {
  cluster?.stop()
  cluster = undefined
})

describe('a plan and its shards, without Slurm', () => {
  it('are measured part by part, go on where they stopped, and are collected once', async () => {
    const at = folder()
    const cli = new Cli()
    const run = ['slurm', 'run', '--tasks', '3', '--dir', at, '--gres', 'none', '--print', '--backends', 'fake', '--ops', 'add', '--sizes', 'vector=64,65,66,67,68,69,70', '--impls', 'steady', '--modes', 'hot', '--preset', 'quick']
    const printed = await cli.run(run)
    expect([printed.status, printed.out]).toEqual([0, readFileSync(join(at, 'job.sbatch'), 'utf8')])
    expect((await cli.run(run)).err).toContain('has a plan already')

    // What is refused can be corrected and given again.
    const refused = run.filter((word) => word !== '--print').map((word) => (word === at ? `${at}-2` : word))
    const bin = mkdtempSync(join(tmpdir(), 'opscope-sbatch-'))
    writeFileSync(join(bin, 'sbatch'), '#!/bin/sh\necho "sbatch: error: invalid partition specified: h900" >&2\nexit 1\n', { mode: 0o755 })
    for (let i = 0; i < 2; i++) expect((await cli.run(refused, { PATH: `${bin}:${process.env['PATH']}` })).err).toBe('opscope: sbatch refused the job: sbatch: error: invalid partition specified: h900. Nothing is submitted; give the command again with other options.\n')
    expect((await cli.run(refused, { PATH: join(bin, 'none') })).err).toMatch(/^opscope: sbatch could not be started \(.*ENOENT\); nothing is submitted\. With --print/)

    const shard = (index: number, env: Record<string, string> = {}) => cli.start(['run', '--plan', join(at, 'plan.json'), '--shard', `${index}/3`], { OPSCOPE_DATA_DIR: join(at, `task-${index}`), ...env })
    expect((await shard(1).ended).status).toBe(0)
    const second = shard(2, { OPSCOPE_TEST_REAL_TIME: '1' })
    await second.says('add ')
    second.child.kill('SIGKILL')
    await second.ended
    expect((await cli.run(['slurm', 'collect', at])).err).toContain('1 of 3 tasks are complete')
    expect((await shard(2).ended).status).toBe(0)
    expect((await shard(3).ended).status).toBe(0)
    expect((await shard(3).ended).err).toContain('shard 3/3 is complete')

    expect((await cli.run(['slurm', 'collect', at])).err).toContain('collected 7 results')
    expect((await cli.run(['slurm', 'collect', at])).err).toContain('was collected before')
    const file = JSON.parse((await cli.run(['export', 'last', '--format', 'json'])).out) as SessionFile
    expect(new Set(file.results.map(({ case: c }) => caseId(c))).size).toBe(7)
    expect(await cli.json<SessionSummary[]>('sessions')).toHaveLength(1)
    expect((await cli.run(['run', '--plan', join(at, 'plan.json'), '--shard', '4/3'])).status).toBe(2)
  })
})

describe.skipIf(noSlurm !== undefined)(`a Slurm cluster${noSlurm ? ` (skipped: ${noSlurm})` : ''}`, () => {
  it('measures an array of 20 tasks on two nodes, one of which is killed: each case exactly once', { timeout: 400_000 }, async () => {
    cluster = await SlurmCluster.start()
    const at = folder()
    const cli = new Cli()
    const submitted = await cli.run(['slurm', 'run', '--tasks', String(TASKS), '--dir', at, '--gres', 'none', ...sweep], cluster.env)
    expect([submitted.status, submitted.err]).toEqual([0, expect.stringContaining('submitted 20 tasks')])
    await expect.poll(() => readdirSync(at).filter((name) => name.endsWith('.log')).length, { timeout: 60_000 }).toBeGreaterThan(5)
    await expect.poll(() => cluster!.jobs().filter((state) => state === 'RUNNING').length, { timeout: 60_000 }).toBe(2)
    cluster.kill('n2')
    await expect.poll(() => cluster!.jobs(), { timeout: 300_000, interval: 1000 }).toEqual([])

    const collected = await cli.run(['slurm', 'collect', at])
    expect([collected.status, collected.out]).toEqual([0, ''])
    const file = JSON.parse((await cli.run(['export', 'last', '--format', 'json'])).out) as SessionFile
    expect(file.results).toHaveLength(3 * TASKS)
    expect(new Set(file.results.map(({ case: c }) => c.params['n'])).size).toBe(3 * TASKS)
    expect(new Set(file.results.map(({ status }) => status))).toEqual(new Set(['ok']))
    expect(new Set(file.results.map(({ case: c }) => c.device))).toEqual(new Set(['n1/cpu', 'n2/cpu']))
    expect(file.environment.machines?.map(({ name }) => name).sort()).toEqual(['n1', 'n2'])
    expect(existsSync(join(at, 'job.sbatch'))).toBe(true)
  })
})
