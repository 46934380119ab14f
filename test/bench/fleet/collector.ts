import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchmarkCase } from '@core/case'
import { deviceOn, remoteDevice } from '@core/fleet/place'
import { PRESETS } from '@core/measure/settings'
import { testCase, testDevice, testSession } from '@core/testing'
import { submit } from '../../../main/fleet/client'
import { openLine } from '../../../main/fleet/connect'
import { clientOf, gather } from '../../../main/fleet/gather'
import { openHistory } from '../../../main/history'

/** How long the peak is looked for between two looks, in ms. */
const LOOK_MS = 200

/** Plans a session of so many cases in a history of its own, queues them, sends `submitted`, and collects their results. Sends what it found. */
export default async function collector({ url, hosts, cases: count, ackWaitMs, folder }: { url: string; hosts: readonly string[]; cases: number; ackWaitMs: number; folder: string }): Promise<void> {
  const limits = { ackWaitMs, dedupeMs: 600_000 }
  const file = join(folder, 'history.sqlite')
  const { history } = openHistory(file)
  const line = await openLine({ server: url }, 'bench', limits)
  let peakBytes = 0
  const watch = setInterval(() => (peakBytes = Math.max(peakBytes, process.memoryUsage().rss)), LOOK_MS)
  const peak = () => {
    const bytes = peakBytes
    peakBytes = 0
    return bytes
  }

  const devices = hosts.map((host) => remoteDevice(host, testDevice()))
  const planning = performance.now()
  const session = planned()
  const planSeconds = (performance.now() - planning) / 1000
  const submitting = performance.now()
  await submit(line, { client: clientOf(folder), session, cases: casesOf(), settings: PRESETS.quick, repeats: 1, secondsOf: () => 1, devices, anyOfModel: false })
  const submitSeconds = (performance.now() - submitting) / 1000
  const submitBytes = peak()
  process.send!({ submitted: true })

  const measuring = performance.now()
  let taken = 0
  let noted = 0
  const left = await gather({
    history, folder, line, limits, sessions: [session], signal: new AbortController().signal,
    stored: () => {
      taken += 1
      if (taken - noted < count / 20) return
      noted = taken
      process.send!({ taken, seconds: (performance.now() - measuring) / 1000 })
    },
  })
  const seconds = (performance.now() - measuring) / 1000
  const { results, failures } = history.summary(session)
  const missing = history.remaining(session).length
  const waiting = (await line.jsm.streams.info('OPSCOPE_WORK')).state.messages
  await line.close()
  history.close()
  clearInterval(watch)
  const report = { planSeconds, submitSeconds, seconds, submitBytes, collectBytes: peak(), fileBytes: statSync(file).size, left, results, failures, missing, waiting }
  await new Promise((sent) => process.send!(report, sent))

  function* casesOf(): Generator<BenchmarkCase> {
    for (let i = 0; i < count; i++) yield testCase({ params: { n: 1000 + i }, device: deviceOn(hosts[i % hosts.length]!, 'cpu') })
  }

  function planned(): string {
    const { id } = history.createSession({ name: 'A fleet', about: { kind: 'fleet' }, environment: { ...testSession().environment, devices }, settings: PRESETS.quick, cases: [...casesOf()] })
    history.setState(id, 'stopped')
    return id
  }
}
