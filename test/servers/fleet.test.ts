import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { headers, nkeys } from '@nats-io/transport-node'
import { caseId } from '@core/case'
import { createRandom } from '@core/stats/random'
import type { SessionFile, SessionSummary } from '@core/session/types'
import { PRESETS } from '@core/measure/settings'
import { testCase, testResult } from '@core/testing'
import { queues } from '../../main/fleet/client'
import { clientOf } from '../../main/fleet/gather'
import { deliverySchema, laneOf, pack, RESULT_STREAM, resultSubject, unpack, unreadSubject, VERSION_HEADER, workSubject } from '../../main/fleet/messages'
import { Cli, type Running } from '../e2e/cli'
import { AgentHosts, canNamespace, Nats, noNats } from './nats'

let nats: Nats | undefined
let hosts: AgentHosts | undefined
const running: Running[] = []
afterEach(async () => {
  for (const one of running.splice(0)) {
    one.child.kill('SIGKILL')
    await one.ended
  }
  hosts?.stop()
  await nats?.stop()
  nats = hosts = undefined
})

const ENV = { OPSCOPE_TEST_ACK_WAIT_MS: '3000' }
const sweep = (sizes: string, ...more: string[]) => ['fleet', 'run', '--ops', 'add', '--sizes', `vector=${sizes}`, '--impls', 'steady', '--modes', 'hot', '--preset', 'quick', ...more]
const sizes = (count: number) => Array.from({ length: count }, (_, i) => 64 + i).join(',')

async function fleet() {
  nats = await Nats.start()
  const cli = new Cli()
  const server = ['--server', nats.url]
  const up = async (name: string, env: Record<string, string> = {}) => {
    const agent = new Cli().start(['fleet', 'up', ...server, '--name', name, '--backends', 'fake'], { ...ENV, ...env })
    running.push(agent)
    await agent.says(`${name} measures for the fleet`)
    return agent
  }
  const hosts = async () => (JSON.parse((await cli.run(['fleet', 'status', ...server, '--json'], ENV)).out) as { hosts: { host: string }[] }).hosts.map(({ host }) => host).sort()
  const session = async () => JSON.parse((await cli.run(['export', 'last', '--format', 'json'])).out) as SessionFile
  return { nats, cli, server, up, hosts, session }
}

describe.skipIf(noNats !== undefined)(`a fleet on a real nats-server${noNats ? ` (skipped: ${noNats})` : ''}`, () => {
  it('measures a sweep on each device, tells its state, and drains', async () => {
    const { cli, server, up, hosts, session } = await fleet()
    expect((await cli.run(sweep('64', ...server))).err).toContain('no agent answers; start one on a machine of the fleet: opscope fleet up')
    const agents = [await up('n1'), await up('n2')]
    await expect.poll(hosts, { timeout: 60_000 }).toEqual(['n1', 'n2'])
    const second = await new Cli().run(['fleet', 'up', ...server, '--name', 'n1', '--backends', 'fake'])
    expect([second.status, second.err]).toEqual([1, 'opscope: an agent called n1 is in this fleet already; give this one another name with --name\n'])
    const { status, err } = await cli.run(sweep(sizes(4)))
    expect([status, err]).toEqual([0, expect.stringContaining('8 cases queued for 2 devices')])
    const file = await session()
    expect(new Set(file.results.map(({ case: c }) => caseId(c))).size).toBe(8)
    expect(file.results.map(({ status: one }) => one)).toEqual(Array(8).fill('ok'))
    expect(new Set(file.results.map(({ case: c }) => c.device))).toEqual(new Set(['n1/fake:0', 'n2/fake:0']))
    expect(file.environment.machines?.map(({ name }) => name).sort()).toEqual(['n1', 'n2'])
    expect(file.session).toMatchObject({ state: 'done', about: { kind: 'fleet' } })
    await cli.run(['fleet', 'drain', 'n1'])
    expect((await agents[0]!.ended).status).toBe(0)
    await cli.run(['fleet', 'drain'])
    expect(await agents[1]!.ended).toMatchObject({ status: 0, err: expect.stringContaining('n2 has left the fleet; it measured 4 cases') })
  })

  it('keeps work for agents that are away and results for a history that is', async () => {
    const { cli, up, hosts, server } = await fleet()
    const first = await up('n1')
    await expect.poll(hosts, { timeout: 60_000 }).toEqual(['n1'])
    first.child.kill('SIGKILL')
    await first.ended
    await up('n1', { OPSCOPE_TEST_REAL_TIME: '1' })
    expect(await cli.run(sweep(sizes(3), '--detach', ...server), ENV)).toMatchObject({ status: 0 })
    const [before] = await cli.json<SessionSummary[]>('sessions')
    expect(before).toMatchObject({ results: 0, planned: 3, state: 'stopped' })
    const { status, err } = await cli.run(['fleet', 'collect', '--wait'], ENV)
    expect([status, err]).toEqual([0, expect.stringContaining('3 cases')])
    expect((await cli.json<SessionSummary[]>('sessions'))[0]).toMatchObject({ results: 3, state: 'done' })
  })

  it('cancels what is queued and what is measured, of agents that are away too, and every device goes on with other work', async () => {
    const { nats, cli, up, server } = await fleet()
    const [here, away] = [await up('n1', { OPSCOPE_TEST_REAL_TIME: '1' }), await up('n2', { OPSCOPE_TEST_REAL_TIME: '1' })]
    const nc = await nats.connect()
    const jsm = await jetstreamManager(nc)
    const queue = async () => (await queues({ jsm })).filter(({ waiting, measuring }) => waiting + measuring > 0).map(({ waiting, measuring }) => ({ waiting, measuring }))
    // Cases that would be measured for an hour.
    const waits = cli.start(['fleet', 'run', ...server, '--name', 'Long', '--ops', 'add', '--sizes', `vector=${sizes(3)}`, '--impls', 'slow', '--modes', 'hot', '--rule', 'fixed-time=3600s', '--max-seconds', '3600'], ENV)
    running.push(waits)
    await waits.says('6 cases queued for 2 devices')
    await expect.poll(queue, { timeout: 60_000 }).toEqual(Array(2).fill({ waiting: 2, measuring: 1 }))
    away.child.kill('SIGKILL')
    await away.ended
    expect(await cli.run(['fleet', 'cancel', 'Long'], ENV)).toMatchObject({ status: 0, err: expect.stringMatching(/^opscope: 6 cases taken out of the queue, 0 of 6 cases measured: Long \(session .*\)\n$/) })
    expect(await waits.ended).toMatchObject({ status: 130, err: expect.stringContaining('opscope: cancelled, 0 of 6 cases measured: Long') })
    expect((await cli.json<SessionSummary[]>('sessions')).map(({ name, state, results }) => [name, state, results])).toEqual([['Long', 'cancelled', 0]])
    await expect.poll(queue, { timeout: 60_000 }).toEqual([])
    await nc.close()
    // Neither waits for work that is gone: the agent that measured it, and the one that died over it.
    await up('n2')
    const after = await cli.run(sweep(sizes(2), '--name', 'After'), ENV)
    expect([after.status, after.err]).toEqual([0, expect.stringContaining('4 cases: After')])
    expect((await cli.run(['fleet', 'cancel', 'After'], ENV)).err).toBe('opscope: “After” has all its results; nothing of it is queued\n')
    here.child.kill('SIGTERM')
    expect(await here.ended).toMatchObject({ status: 0, err: expect.stringContaining('n1 has left the fleet; it measured 2 cases') })
  })

  it('loses one message to each that is not work, or is of no catalogue, and keeps results of a newer version on the server', async () => {
    const { nats, cli, up, hosts, server, session } = await fleet()
    const agent = await up('n1')
    await expect.poll(hosts, { timeout: 60_000 }).toEqual(['n1'])
    const nc = await nats.connect()
    const lane = workSubject(laneOf('n1', 'fake', 'fake:0'))
    const js = jetstream(nc)
    for (const bytes of [new Uint8Array([1, 2, 3]), pack({ version: 1, command: 'rm -rf /' }), pack('x'), new Uint8Array()]) await js.publish(lane, bytes)
    // Of a version that says more: it is answered, so that its sender does not wait.
    const answers: string[] = []
    nc.subscribe(resultSubject('newer'), { callback: (_error, message) => void answers.push(unpack(deliverySchema, message.data).result.message ?? '') })
    await js.publish(lane, pack({ version: 2, client: 'newer', session: 's', resultId: 'r', case: testCase({ backend: 'fake', device: 'fake:0' }), settings: PRESETS.quick, urgent: true }))
    await expect.poll(() => answers, { timeout: 60_000 }).toEqual([expect.stringMatching(/^The agent on n1 cannot read this work \(version: .*\)\. It should have the same version of Opscope as its sender\.$/)])
    // A result that only a newer version can read stays on the server.
    const client = clientOf(cli.folder)
    const newer = headers()
    newer.set(VERSION_HEADER, '9.0.0')
    await js.publish(resultSubject(client), pack({ version: 1, session: 's', host: 'n1', result: { ...testResult(), status: 'postponed' } }), { headers: newer })
    const { status, err: told } = await cli.run(sweep('64', ...server), ENV)
    expect([status, told]).toEqual([0, expect.stringMatching(/opscope: results of n1 \(Opscope 9\.0\.0\) cannot be read by this version of Opscope \(.*\): result\.status: .*expected one of .*\. They stay on the NATS server/)])
    expect((await (await jetstreamManager(nc)).streams.getMessage(RESULT_STREAM, { last_by_subj: unreadSubject(client) }))?.header.get(VERSION_HEADER)).toBe('9.0.0')
    await nc.close()
    expect((await session()).results).toHaveLength(1)
    agent.child.kill('SIGTERM')
    const { err } = await agent.ended
    expect(err.match(/a message that is no work was dropped/g)).toHaveLength(4)
  })

  it('takes no more work for a device that is lost, and ends when it has no other', async () => {
    const { cli, up, server } = await fleet()
    const agent = await up('n1')
    expect((await cli.run(['fleet', 'run', '--ops', 'add', '--sizes', 'vector=64,65,66,67,68,69,70', '--impls', 'lost', '--modes', 'hot', '--preset', 'quick', '--detach', ...server])).status).toBe(0)
    const { status, err } = await agent.ended
    expect([status, err]).toEqual([1, expect.stringContaining('fake:0 (Scripted device) is lost and takes no more work: The device was lost.')])
    expect(err).toContain('opscope: every device here was lost')
    expect((await cli.run(['fleet', 'collect'], ENV)).err).toContain('opscope: 5 results taken, 2 are still to come')
  })

  it('goes on measuring when its server has refused its key for a while, and comes back without what it had stored', async () => {
    const user = nkeys.createUser()
    const seed = join(mkdtempSync(join(tmpdir(), 'opscope-nkey-')), 'user.nk')
    writeFileSync(seed, user.getSeed())
    const only = (key: string) => `authorization { users: [ { nkey: ${key} } ] }`
    nats = await Nats.start({ config: only(user.getPublicKey()) })
    const server = ['--server', nats.url, '--nkey', seed]
    const agent = new Cli().start(['fleet', 'up', ...server, '--name', 'n1', '--backends', 'fake'], ENV)
    running.push(agent)
    await agent.says('n1 measures for the fleet')
    for (const key of [nkeys.createUser().getPublicKey(), user.getPublicKey()]) {
      await nats.kill()
      nats.wipe()
      nats.configure(only(key))
      await nats.up()
      await sleep(3000)
    }
    const cli = new Cli()
    await expect.poll(async () => (JSON.parse((await cli.run(['fleet', 'status', ...server, '--json'], ENV)).out || '{"hosts":[]}') as { hosts: { host: string }[] }).hosts.map(({ host }) => host), { timeout: 60_000 }).toEqual(['n1'])
    expect((await cli.run(sweep(sizes(3), ...server), ENV)).status).toBe(0)
    expect((JSON.parse((await cli.run(['export', 'last', '--format', 'json'])).out) as SessionFile).results.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok'])
  })

  it('is not reached in the clear over a network, nor with a password in its address', async () => {
    const cli = new Cli()
    for (const server of ['nats://nats.example:4222', 'nats://me:secret@127.0.0.1:4222', 'http://127.0.0.1']) {
      const { status, err } = await cli.run(['fleet', 'status', '--server', server])
      expect([status, err]).toEqual([2, expect.stringMatching(/is not encrypted|a password in the address|is no address of a NATS server/)])
    }
    expect((await cli.run(['fleet', 'status', '--server', 'nats://127.0.0.1:1'])).err).toContain('the NATS server nats://127.0.0.1:1 cannot be used')
  })

  it('is reached over TLS with an nkey, and by nobody else', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'opscope-tls-'))
    const at = (name: string) => join(folder, name)
    const certificate = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', at('key.pem'), '-out', at('cert.pem'), '-days', '1', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'])
    expect(certificate.status).toBe(0)
    const user = nkeys.createUser()
    writeFileSync(at('user.nk'), user.getSeed())
    writeFileSync(at('stranger.nk'), nkeys.createUser().getSeed())
    nats = await Nats.start({ config: `tls { cert_file: ${at('cert.pem')}, key_file: ${at('key.pem')} }\nauthorization { users: [ { nkey: ${user.getPublicKey()} } ] }` })
    const cli = new Cli()
    const status = (...more: string[]) => cli.run(['fleet', 'status', '--server', `tls://localhost:${nats!.port}`, ...more])
    expect(await status('--nkey', at('user.nk'), '--tls-ca', at('cert.pem'))).toMatchObject({ status: 0, err: expect.stringContaining('0 hosts, 0 cases queued') })
    expect((await status('--nkey', at('stranger.nk'), '--tls-ca', at('cert.pem'))).err).toMatch(/cannot be used: .*[Aa]uthorization/)
    expect((await status('--nkey', at('user.nk'))).err).toMatch(/cannot be used: .*(certificate|self.signed)/i)
    expect((await cli.run(['fleet', 'status', '--server', nats.url, '--nkey', at('user.nk')])).status).toBe(1)
    await nats.stop()
    nats = await Nats.start()
    expect((await cli.run(['fleet', 'status', '--server', nats.url.replace('nats:', 'tls:')])).err).toContain("server does not support 'tls'")
    // Files are named, not copied.
    await cli.run(['fleet', 'status', '--server', nats.url, '--nkey', at('user.nk')])
    expect(readFileSync(join(cli.folder, 'fleet.json'), 'utf8')).toContain(at('user.nk'))
    expect(readFileSync(join(cli.folder, 'fleet.json'), 'utf8')).not.toContain(new TextDecoder().decode(user.getSeed()))
  })

  // OPSCOPE_FLEET_FAULTS=100 for the long form.
  const faults = Number(process.env['OPSCOPE_FLEET_FAULTS'] ?? 12)
  it.runIf(canNamespace)(`of eight agents measures every case exactly once through ${faults} faults`, { timeout: 120_000 + faults * 15_000 }, async () => {
    const count = 8
    hosts = new AgentHosts(count)
    nats = await Nats.start({ address: hosts.address })
    const cli = new Cli()
    for (let i = 1; i <= count; i++) hosts.start(i, nats.url, ENV, '--backends', 'cpu')
    const server = ['--server', nats.url, '--insecure']
    await expect.poll(async () => (JSON.parse((await cli.run(['fleet', 'status', ...server, '--json'], ENV)).out || '{"hosts":[]}') as { hosts: unknown[] }).hosts.length, { timeout: 60_000 }).toBe(count)
    const cases = 20 * faults
    const submitted = await cli.run(['fleet', 'run', ...server, '--devices', 'n1/cpu', '--any-of-model', '--detach', '--ops', 'add', '--sizes', `vector=1000..${1000 + cases - 1} step 1`, '--impls', 'scalar', '--threads', '1', '--modes', 'hot', '--rule', 'fixed-time=0.2s'], ENV)
    expect([submitted.status, submitted.err]).toEqual([0, expect.stringContaining(`${cases} cases queued for 1 device`)])

    let collector: Running | undefined
    let ended = false
    const collect = () => {
      const one = (collector = cli.start(['fleet', 'collect', '--wait'], ENV))
      running.push(one)
      void one.ended.then(({ status }) => {
        if (status === 0) ended = true
        else if (collector === one && !ended) collect()
      })
    }
    collect()
    const random = createRandom(20261122)
    const told: Record<string, number> = {}
    let done = 0
    for (; done < faults && !ended; done++) {
      const i = 1 + Math.floor(random() * count)
      const kind = ['kill', 'kill', 'partition', 'server', 'collector'][Math.floor(random() * 5)]!
      told[kind] = (told[kind] ?? 0) + 1
      if (kind === 'kill') hosts.kill(i)
      else if (kind === 'collector') collector?.child.kill('SIGKILL')
      else if (kind === 'server') {
        await nats.kill()
        await sleep(500)
        await nats.up()
      } else {
        hosts.link(i, 'down')
        await sleep(4000)
        hosts.link(i, 'up')
      }
      await sleep(500 + 1500 * random())
    }
    process.stderr.write(`faults: ${JSON.stringify(told)}\n`)
    expect(done).toBe(faults)
    await expect.poll(() => ended, { timeout: 60_000 + faults * 8000, interval: 500 }).toBe(true)
    const file = JSON.parse((await cli.run(['export', 'last', '--format', 'json'])).out) as SessionFile
    expect(file.results).toHaveLength(cases)
    expect(new Set(file.results.map(({ case: c }) => c.params['n'])).size).toBe(cases)
    expect(new Set(file.results.map(({ id }) => id)).size).toBe(cases)
    expect(file.results.filter(({ status }) => status !== 'ok').map(({ message }) => message)).toEqual([])
    expect(new Set(file.results.map(({ case: c }) => c.device)).size).toBeGreaterThan(1)
  })
})
