import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Device } from '@core/backend'
import type { SessionFile } from '@core/session/types'
import { Cli } from '../e2e/cli'
import { agentFolder, canNamespace, noSshd, SshBox } from './sshd'

/** Cases of about a second each on the processor of the other machine. */
const sweep = (sizes: string, ...more: string[]) => ['run', '--devices', 'gpubox/cpu', '--ops', 'add', '--sizes', `vector=${sizes}`, '--impls', 'scalar', '--threads', '1', '--modes', 'hot', '--rule', 'fixed-time=1s', ...more]

let box: SshBox | undefined
afterEach(() => {
  box?.stop()
  box = undefined
})

async function reached(options: Parameters<typeof SshBox.start>[0] = {}) {
  box = await SshBox.start(options)
  const cli = new Cli()
  const env = box.env()
  const run = (...args: string[]) => cli.run(args, env)
  const session = async () => JSON.parse((await run('export', 'last', '--format', 'json')).out) as SessionFile
  return { box, cli, env, run, session }
}

const statuses = ({ results }: SessionFile) => results.map(({ status }) => status)
const sizes = ({ results }: SessionFile) => results.map(({ case: c }) => c.params['n'])

describe.skipIf(noSshd !== undefined)(`a machine that ssh reaches${noSshd ? ` (skipped: ${noSshd})` : ''}`, () => {
  it('is added, listed and measured on; its agent is copied once; results say where they come from', async () => {
    const { box, run, session } = await reached()
    const added = await run('remote', 'add', 'gpubox')
    expect([added.status, added.err, added.out]).toEqual([0, expect.stringContaining("Copying Opscope's agent to gpubox"), expect.stringContaining('Added gpubox')])
    expect(readdirSync(join(box.cache, 'opscope', 'agents'))).toHaveLength(1)

    const listed = await run('list', 'devices', '--json', '--backends', 'cpu')
    expect(listed.err).toBe('')
    const devices = JSON.parse(listed.out) as Device[]
    expect(devices.map(({ id, host }) => [id, host])).toEqual([['cpu', undefined], ['gpubox/cpu', 'gpubox']])

    const measured = await run(...sweep('1000,2000', '--rule', 'fixed-count=20'))
    expect([measured.status, measured.err]).toEqual([0, expect.stringContaining('2 cases')])
    const file = await session()
    expect(statuses(file)).toEqual(['ok', 'ok'])
    expect(file.results.map(({ case: c }) => c.device)).toEqual(['gpubox/cpu', 'gpubox/cpu'])
    // Twenty clean ones; a busy machine takes more, and leaves those out that it disturbed.
    expect(file.results[0]!.samplesNs.length).toBeGreaterThanOrEqual(20)
    expect(file.environment.devices.map(({ id }) => id)).toEqual(['gpubox/cpu'])
    expect(file.environment.machines).toMatchObject([{ name: 'gpubox', facts: { cpu: file.environment.cpu } }])

    expect((await run('remote', 'add', 'gpubox')).err).toContain('there is a remote machine "gpubox" for gpubox already')
    expect((await run('remote', 'remove', 'gpubox')).status).toBe(0)
    expect((await run(...sweep('1000'))).status).toBe(2)
  })

  it('is not added while its host key is not known, and the key is not accepted', async () => {
    const { box, run } = await reached()
    box.distrust()
    const { status, err } = await run('remote', 'add', 'gpubox')
    expect([status, err]).toEqual([1, 'opscope: The host key of gpubox is not known to ssh. Connect once by hand (ssh gpubox), compare the fingerprint and accept it; Opscope accepts none by itself.\n'])
    expect(JSON.parse((await run('remote', 'list', '--json')).out)).toEqual([])
    box.trust()
    expect((await run('remote', 'add', 'gpubox')).status).toBe(0)
  })

  it('is named by no option of ssh and no command of a shell', async () => {
    const cli = new Cli()
    for (const wanted of ['-oProxyCommand=touch x', 'a;b', 'a$(b)', 'user@ho st', '`x`', '']) expect((await cli.run(['remote', 'add', '--', wanted])).status, wanted).toBe(2)
  })

  it('that other versions answer from is not used, in one sentence', async () => {
    const { cli, box } = await reached()
    const other = await cli.run(['remote', 'add', 'gpubox'], box.env(agentFolder('echo "opscope-agent 99"; sleep 1')))
    expect([other.status, other.err.trim().split('\n').at(-1)]).toEqual([1, 'opscope: gpubox answers with agent protocol 99, and this is protocol 1: both sides must be the same version.'])
    const strange = await cli.run(['remote', 'add', 'gpubox'], box.env(agentFolder('echo hello; exit 4')))
    expect(strange.err).toContain('The agent on gpubox ended before it was ready.')
  })

  it('whose login says something first is understood', async () => {
    const { cli, box } = await reached()
    const env = box.env(agentFolder(`echo "Welcome to gpubox"; printf "last login: now"; echo; exec "${process.execPath}" "${join(process.cwd(), 'out/main/cli.js')}" "$@"`))
    expect((await cli.run(['remote', 'add', 'gpubox'], env)).status).toBe(0)
  })

  it('costs the running case when its agent is killed, and the run goes on', async () => {
    const { box, run, cli, env, session } = await reached()
    await run('remote', 'add', 'gpubox')
    const running = cli.start(sweep('1000,1001,1002'), env)
    await running.says('add 1000')
    await expect.poll(() => box.agents().length).toBe(1)
    process.kill(box.agents()[0]!, 'SIGKILL')
    const { status, err } = await running.ended
    const file = await session()
    expect(sizes(file)).toEqual([1000, 1001, 1002])
    expect(statuses(file)).toEqual(['ok', 'crashed', 'ok'])
    expect(file.results[1]!.message).toBe('the measurement process ended: the connection to gpubox was lost: the agent on gpubox ended')
    expect([status, err]).toEqual([1, expect.stringContaining('1 failed')])
  })

  it('whose host key changes in a run is not used any more; the rest is measured once the user has seen to it', async () => {
    const { box, run, cli, env, session } = await reached()
    await run('remote', 'add', 'gpubox')
    const running = cli.start(sweep('1000,1001,1002,1003'), env)
    await running.says('add 1000')
    box.down()
    box.newHostKey()
    await box.up()
    const { status, err } = await running.ended
    expect(status).toBe(130)
    expect(err).toContain('The run stopped, because gpubox cannot be used: The host key of gpubox is not the one in known_hosts: it was installed anew, or another machine answers in its place.')
    expect(statuses(await session())).toEqual(['ok', 'crashed'])
    box.trust()
    // The case that was running stays a failure of the session.
    expect((await run('resume', 'last')).err).toContain('4 cases')
    const file = await session()
    expect(sizes(file)).toEqual([1000, 1001, 1002, 1003])
    expect(statuses(file)).toEqual(['ok', 'crashed', 'ok', 'ok'])
  })

  it.runIf(canNamespace)('with a full disk is not added, and nothing half-copied stays', async () => {
    const { box, cli, run } = await reached()
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', box.cache])
    const { status, err } = await cli.run(['remote', 'add', 'gpubox'], box.env(agentFolder(undefined, 3_000_000)))
    expect([status, err.trim().split('\n').at(-1)]).toEqual([1, "opscope: The disk of gpubox is full: Opscope's agent needs about 170 MB in ~/.cache/opscope there."])
    expect(readdirSync(join(box.cache, 'opscope', 'agents'))).toEqual([])
    expect((await run('remote', 'add', 'gpubox')).status).toBe(0)
  })

  it.runIf(canNamespace)('whose cache must run no programs is not added, and says so', async () => {
    const { box, run } = await reached()
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,noexec', 'none', box.cache])
    const { status, err } = await run('remote', 'add', 'gpubox')
    expect([status, err.trim().split('\n').at(-1)]).toEqual([1, "opscope: Opscope's agent was copied to gpubox and cannot be started there: programs in its ~/.cache/opscope must be allowed to run."])
  })

  it.runIf(canNamespace)('whose line is cut in a case is waited for, and costs that case', async () => {
    const { box, run, cli, env, session } = await reached({ namespaced: true })
    await run('remote', 'add', 'gpubox')
    const running = cli.start(sweep('1000,1001,1002'), env)
    await running.says('add 1000')
    box.link('down')
    await running.says('The run waits for gpubox and goes on when it is back.')
    box.link('up')
    const { status, err } = await running.ended
    expect([status, err]).toEqual([1, expect.stringContaining('gpubox is back; the run goes on.')])
    const file = await session()
    expect(sizes(file)).toEqual([1000, 1001, 1002])
    expect(statuses(file)).toEqual(['ok', 'crashed', 'ok'])
    expect(existsSync(join(box.cache, 'opscope', 'agents'))).toBe(true)
  })
})

