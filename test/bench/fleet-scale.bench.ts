import { openLine, workConsumer, type FleetLine } from '../../main/fleet/connect'
import { collect, submit } from '../../main/fleet/client'
import { runLane } from '../../main/fleet/lane'
import { laneOf, workSubject } from '../../main/fleet/messages'
import { NotFoundError } from '../../main/history/types'
import { PRESETS } from '@core/measure/settings'
import { deviceOn, remoteDevice } from '@core/fleet/place'
import type { Result } from '@core/result'
import { testCase, testDevice, testResult } from '@core/testing'
import { Nats } from '../servers/nats'
import type { Bench } from './bench'

const SAMPLES = Array.from({ length: 64 }, (_, i) => 100 + (i % 7))
const LIMITS = { ackWaitMs: 5000, dedupeMs: 600_000 }
/** Connections that the simulated agents share. */
const CONNECTIONS = 16
const mib = (bytes: number) => bytes / 2 ** 20

/** One fleet of simulated agents, whose cases take no time, on a nats-server of its own. */
async function fleet(devices: number, cases: number, say: (text: string) => void) {
  const nats = await Nats.start()
  const lines: FleetLine[] = []
  try {
    const settings = { server: nats.url }
    for (let i = 0; i < Math.min(CONNECTIONS, devices); i++) lines.push(await openLine(settings, `agents ${i}`, LIMITS))
    const own = await openLine(settings, 'bench', LIMITS)
    lines.push(own)
    const hosts = Array.from({ length: devices }, (_, i) => `n${i + 1}`)
    let draining = false
    const lanes = await Promise.all(hosts.map(async (host, i) => {
      const line = lines[i % (lines.length - 1)]!
      const lane = laneOf(host, 'cpu', 'cpu')
      const consumer = await workConsumer(line, lane, workSubject(lane), 1, LIMITS)
      return () => runLane({ host, consumers: [consumer], js: line.js, ackWaitMs: LIMITS.ackWaitMs, isDraining: () => draining, measure: (work) => Promise.resolve(testResult({ id: work.resultId, case: work.case, samplesNs: SAMPLES })) })
    }))

    say(`${devices} devices: putting ${cases} cases into the queue`)
    const begun = performance.now()
    await submit(own, {
      client: 'bench', session: 'bench', cases: Array.from({ length: cases }, (_, i) => testCase({ params: { n: 1000 + i }, device: deviceOn(hosts[i % devices]!, 'cpu') })),
      settings: PRESETS.quick, repeats: 1, secondsOf: () => 1, devices: hosts.map((host) => remoteDevice(host, testDevice())), anyOfModel: false,
    })
    const submitSeconds = (performance.now() - begun) / 1000

    say(`${devices} devices: measuring`)
    const stored = new Map<string, true>()
    let twice = 0
    const history = {
      addResult: (_session: string, result: Result) => void (stored.has(result.id) ? (twice += 1) : stored.set(result.id, true)),
      result: (id: string): Result => {
        if (!stored.has(id)) throw new NotFoundError(id)
        return testResult({ id })
      },
    }
    const measured = performance.now()
    const ends = lanes.map((run) => run())
    const stop = new AbortController()
    let serverBytes = 0
    const watch = setInterval(() => {
      serverBytes = Math.max(serverBytes, nats.memoryBytes)
      if (stored.size >= cases) stop.abort()
    }, 50)
    await collect({ history, client: 'bench', line: own, limits: LIMITS, signal: stop.signal, stored: () => stored.size >= cases && stop.abort() })
    const seconds = (performance.now() - measured) / 1000
    clearInterval(watch)
    draining = true
    await Promise.all(ends)
    const left = await own.jsm.streams.info('OPSCOPE_WORK')
    return { devices, cases, submitSeconds, seconds, stored: stored.size, twice, left: left.state.messages, serverMiB: mib(serverBytes), processMiB: mib(process.memoryUsage().rss) }
  } finally {
    await Promise.all(lines.map((line) => line.close()))
    nats.stop()
  }
}

/** How long work of an agent that vanished waits until another one has it, in seconds. */
async function noticeSeconds(): Promise<number> {
  const nats = await Nats.start()
  try {
    const [one, other] = [await openLine({ server: nats.url }, 'one', LIMITS), await openLine({ server: nats.url }, 'other', LIMITS)]
    const limits = LIMITS
    await submit(one, { client: 'bench', session: 'bench', cases: [testCase({ device: 'n1/cpu' })], settings: PRESETS.quick, repeats: 1, secondsOf: () => 1, devices: [remoteDevice('n1', testDevice())], anyOfModel: false })
    const lane = laneOf('n1', 'cpu', 'cpu')
    const taken = await (await workConsumer(one, lane, workSubject(lane), 1, limits)).next({ expires: 2000 })
    if (!taken) throw new Error('no work came')
    const gone = performance.now()
    await one.close()
    const consumer = await workConsumer(other, lane, workSubject(lane), 1, limits)
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

/** A queue with simulated agents, whose cases take no time: what NATS, the agents' loop and the collector cost. `cases=`, `devices=10,100,1000`. */
const bench: Bench = async ({ args, say }) => {
  const cases = Number(args['cases'] ?? 20_000)
  const rows = []
  for (const devices of (args['devices'] ?? '10,100,1000').split(',').map(Number)) rows.push(await fleet(devices, cases, say))
  const notice = await noticeSeconds()
  return {
    figures: [
      ...rows.flatMap(({ devices, seconds, submitSeconds, serverMiB, processMiB, stored, twice, left }) => [
        { name: `${devices} devices: cases measured and in the history`, value: cases / seconds, unit: 'per second' },
        { name: `${devices} devices: cases put into the queue`, value: cases / submitSeconds, unit: 'per second' },
        { name: `${devices} devices: cases missing, stored twice or left in the queue`, value: cases - stored + twice + left, unit: 'cases', aim: 0, better: 'less' as const },
        { name: `${devices} devices: memory of nats-server`, value: serverMiB, unit: 'MiB' },
        { name: `${devices} devices: memory of all agents and the collector, one process`, value: processMiB, unit: 'MiB' },
      ]),
      { name: `work of a dead agent is given out again (acknowledgement awaited for ${LIMITS.ackWaitMs / 1000} s)`, value: notice, unit: 's' },
    ],
    rows,
  }
}
export default bench
