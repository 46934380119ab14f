import { testResult } from '@core/testing'
import { openLine, workConsumer, type FleetLine } from '../../../main/fleet/connect'
import { runLane } from '../../../main/fleet/lane'
import { laneOf, pack, presenceSubject, workSubject, type Presence } from '../../../main/fleet/messages'

const SAMPLES = Array.from({ length: 64 }, (_, i) => 100 + (i % 7))
/** Connections that the simulated agents share. */
const CONNECTIONS = 16
const PRESENCE_MS = 2000

/** So many simulated agents with one device each, whose cases take no time, from the parent's first message to its second. Sends `ready`, then what they measured. */
export default async function agents({ url, hosts, ackWaitMs }: { url: string; hosts: readonly string[]; ackWaitMs: number }): Promise<void> {
  const limits = { ackWaitMs, dedupeMs: 600_000 }
  const lines: FleetLine[] = []
  for (let i = 0; i < Math.min(CONNECTIONS, hosts.length); i++) lines.push(await openLine({ server: url }, `agents ${i}`, limits))
  const measured = new Map(hosts.map((host) => [host, 0]))
  let draining = false
  const lanes = await Promise.all(hosts.map(async (host, i) => {
    const line = lines[i % lines.length]!
    const lane = laneOf(host, 'cpu', 'cpu')
    const consumer = await workConsumer(line, lane, workSubject(lane), 1, limits)
    return () =>
      runLane({
        host, consumers: () => Promise.resolve([consumer]), js: line.js, ackWaitMs, isDraining: () => draining,
        measure: (work) => Promise.resolve(testResult({ id: work.resultId, case: work.case, samplesNs: SAMPLES })),
        ended: () => void measured.set(host, measured.get(host)! + 1),
      })
  }))
  const telling = setInterval(() => {
    hosts.forEach((host, i) => {
      const presence: Presence = { version: 1, host, opscope: 'bench', draining, devices: [{ backend: 'cpu', device: 'cpu', name: 'Simulated', state: 'measuring', measured: measured.get(host)! }] }
      lines[i % lines.length]!.nc.publish(presenceSubject(host), pack(presence))
    })
  }, PRESENCE_MS)
  let peakBytes = 0
  const watch = setInterval(() => (peakBytes = Math.max(peakBytes, process.memoryUsage().rss)), 200)
  process.send!({ ready: true })
  await new Promise((go) => process.once('message', go))
  process.once('message', () => (draining = true))
  await Promise.all(lanes.map((run) => run()))
  clearInterval(telling)
  clearInterval(watch)
  await Promise.all(lines.map((line) => line.close()))
  await new Promise((sent) => process.send!({ peakBytes, measured: [...measured.values()].reduce((sum, count) => sum + count, 0) }, sent))
}
