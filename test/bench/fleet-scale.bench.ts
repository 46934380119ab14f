import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { remoteDevice } from '@core/fleet/place'
import { PRESETS } from '@core/measure/settings'
import { testCase, testDevice } from '@core/testing'
import { submit } from '../../main/fleet/client'
import { LIMITS, openLine, workConsumer } from '../../main/fleet/connect'
import { laneOf, workSubject } from '../../main/fleet/messages'
import { Nats } from '../servers/nats'
import { loadFigure, type Bench, type Figure } from './bench'

const PART = join(import.meta.dirname, 'fleet', 'part.mjs')
const ACK_WAIT_MS = 30_000
const mib = (bytes: number) => Number((bytes / 2 ** 20).toFixed(1))

/** A part of the fleet in a process of its own; `said` resolves with its next message that has this field. */
class Part {
  readonly #child
  readonly #listeners: ((message: object) => void)[] = []

  constructor(name: string, options: object) {
    this.#child = fork(PART, [name, JSON.stringify(options)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    this.#child.on('message', (message: object) => this.#listeners.forEach((listener) => listener(message)))
  }

  said<T extends object>(field: string): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#listeners.push((message) => field in message && resolve(message as T))
      this.#child.once('exit', (code) => reject(new Error(`a part of the fleet ended with ${code}`)))
    })
  }

  each(listener: (message: object) => void): void {
    this.#listeners.push(listener)
  }

  tell(): void {
    this.#child.send('next')
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}

interface Report {
  planSeconds: number
  submitSeconds: number
  seconds: number
  submitBytes: number
  collectBytes: number
  fileBytes: number
  left: number
  results: number
  failures: number
  missing: number
  waiting: number
}

/** One fleet of simulated agents, whose cases take no time, with a nats-server, agents and a collector each in its own process. */
async function fleet(devices: number, cases: number, say: (text: string) => void) {
  const nats = await Nats.start()
  const folder = mkdtempSync(join(tmpdir(), 'opscope-fleet-'))
  const hosts = Array.from({ length: devices }, (_, i) => `n${i + 1}`)
  const common = { url: nats.url, hosts, ackWaitMs: ACK_WAIT_MS }
  const parts: Part[] = []
  let serverBytes = 0
  const watch = setInterval(() => (serverBytes = Math.max(serverBytes, nats.memoryBytes)), 200)
  try {
    const agents = new Part('agents', common)
    parts.push(agents)
    await agents.said('ready')
    say(`${devices} devices: putting ${cases} cases into the queue`)
    const collector = new Part('collector', { ...common, cases, folder })
    parts.push(collector)
    collector.each((message) => 'taken' in message && say(`${devices} devices: ${JSON.stringify(message)}`))
    const report = collector.said<Report>('results')
    await collector.said('submitted')
    const submitServerBytes = serverBytes
    agents.tell()
    const found = await report
    const ended = agents.said<{ peakBytes: number; measured: number }>('measured')
    agents.tell()
    const { peakBytes, measured } = await ended
    return {
      devices, cases, planSeconds: found.planSeconds, submitSeconds: found.submitSeconds, seconds: found.seconds, stored: found.results, failures: found.failures, missing: found.missing, left: found.waiting, measured,
      serverMiB: mib(serverBytes), serverQueuedMiB: mib(submitServerBytes), agentsMiB: mib(peakBytes), submitterMiB: mib(found.submitBytes), collectorMiB: mib(found.collectBytes), historyMiB: mib(found.fileBytes),
    }
  } finally {
    clearInterval(watch)
    for (const part of parts) part.kill()
    nats.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** How long work of an agent that vanished waits until another one has it, in seconds. */
async function redeliverySeconds(): Promise<number> {
  const nats = await Nats.start()
  try {
    const [one, other] = [await openLine({ server: nats.url }, 'one', LIMITS), await openLine({ server: nats.url }, 'other', LIMITS)]
    await submit(one, { client: 'bench', session: 'bench', cases: [testCase({ device: 'n1/cpu' })], settings: PRESETS.quick, repeats: 1, secondsOf: () => 1, devices: [remoteDevice('n1', testDevice())], anyOfModel: false })
    const lane = laneOf('n1', 'cpu', 'cpu')
    const taken = await (await workConsumer(one, lane, workSubject(lane), 1, LIMITS)).next({ expires: 2000 })
    if (!taken) throw new Error('no work came')
    const gone = performance.now()
    await one.close()
    const consumer = await workConsumer(other, lane, workSubject(lane), 1, LIMITS)
    for (;;) {
      const again = await consumer.next({ expires: 1000 })
      if (!again) continue
      await again.ackAck()
      await other.close()
      return (performance.now() - gone) / 1000
    }
  } finally {
    nats.stop()
  }
}

/**
 * A fleet of simulated agents, whose cases take no time: what NATS, the agents' loop, the collector and the history cost.
 * `devices=10,100,1000` with `cases=20000` each, then `whole=1000000` on the most devices (0: not).
 */
const bench: Bench = async ({ args, say }) => {
  const cases = Number(args['cases'] ?? 20_000)
  const whole = Number(args['whole'] ?? 1_000_000)
  const sizes = (args['devices'] ?? '10,30,100,300,1000').split(',').map(Number)
  const rows = []
  const load = loadFigure()
  for (const devices of sizes) rows.push(await fleet(devices, cases, say))
  const redelivery = args['redelivery'] === '0' ? undefined : await redeliverySeconds()
  if (whole > 0) rows.push(await fleet(Math.max(...sizes), whole, say))
  const figures = rows.flatMap((row): Figure[] => {
    const of = `${row.devices} devices, ${row.cases} cases`
    return [
      { name: `${of}: put into the queue`, value: row.cases / row.submitSeconds, unit: 'per second' },
      { name: `${of}: measured, collected and in the history`, value: row.cases / row.seconds, unit: 'per second' },
      { name: `${of}: missing, failed or left in the queue`, value: row.missing + row.failures + row.left + Math.abs(row.cases - row.stored), unit: 'cases', aim: 0, better: 'less' },
      { name: `${of}: measured more than once`, value: row.measured - row.cases, unit: 'cases' },
      { name: `${of}: memory of nats-server`, value: row.serverMiB, unit: 'MiB' },
      { name: `${of}: memory of all agents, one process`, value: row.agentsMiB, unit: 'MiB' },
      { name: `${of}: memory while the sweep is planned and queued`, value: row.submitterMiB, unit: 'MiB' },
      { name: `${of}: memory of the collector`, value: row.collectorMiB, unit: 'MiB' },
      { name: `${of}: history file`, value: row.historyMiB, unit: 'MiB' },
    ]
  })
  if (redelivery !== undefined) figures.push({ name: `work of a dead agent is given out again (acknowledgement awaited for ${LIMITS.ackWaitMs / 1000} s)`, value: redelivery, unit: 's' })
  return { figures: [load, ...figures], rows }
}
export default bench
