import { INTERLEAVE, noiseFloorOf, SELF_CHECK, THRESHOLD, type Pair } from '@core/compare'
import type { BenchmarkCase } from '@core/case'
import type { Device } from '@core/backend'
import { interleaveSource, type InterleaveSource } from '../interleave-source'
import { usedBy, type Stage } from '../stage'
import { listed } from '../words'

const sourceOf = (stage: Stage, pairs: readonly Pair[], threshold: number, devices: readonly Device[], quads?: number): InterleaveSource =>
  interleaveSource({ pairs, threshold, secondsOf: stage.secondsWith(INTERLEAVE.settings, devices), ...(quads === undefined ? {} : { quads }) })

/** Begins a session that measures these pairs interleaved and adds to the session they are of. */
export async function startInterleaved(stage: Stage, pairs: readonly Pair[], sessionId: string, threshold = stage.deps.settings().compareThreshold ?? THRESHOLD): Promise<{ sessionId: string }> {
  const parent = stage.deps.history.summary(sessionId)
  if (pairs.length === 0) throw new Error(`No pair of cases of "${parent.name}" is picked, so there is nothing to measure.`)
  const cases: BenchmarkCase[] = pairs.flatMap(({ a, b }) => [a, b])
  const devices = await stage.devices(cases)
  stage.checkJoinable(sessionId, cases, devices)
  return stage.create({
    session: { name: `${parent.name.slice(0, 180)}, unclear cases`, about: { kind: 'interleaved', session: sessionId }, settings: INTERLEAVE.settings, cases: [] },
    source: sourceOf(stage, pairs, threshold, devices),
    devices: usedBy(cases, devices),
  })
}

/** Begins a session that compares cases of these devices with themselves, and keeps what that says of each device. */
export async function startSelfCheck(stage: Stage, deviceIds: readonly string[], count: number = SELF_CHECK.pairs): Promise<{ sessionId: string }> {
  const available = await stage.available(deviceIds)
  const pairs = stage.deps.planner.selfCheckPairs(available, count)
  const devices = usedBy(pairs.map(({ a }) => a), available)
  if (pairs.length === 0) throw new Error('No device is available that could be compared with itself.')
  const source = sourceOf(stage, pairs, THRESHOLD, devices, SELF_CHECK.quads)
  return stage.create({
    session: { name: `Self-check of ${listed([...new Set(devices.map((device) => device.name))], 3)}`.slice(0, 200), about: { kind: 'self-check' }, settings: INTERLEAVE.settings, cases: [] },
    source,
    devices,
    hooks: (sessionId) => ({
      ended: (state) => (state === 'done' ? keepFloors(stage, devices, pairs, source, sessionId) : tell(stage, 'The self-check was stopped, so no noise floor is kept.')),
    }),
  })
}

const tell = ({ emitter }: Stage, message: string) => emitter.emit('notice', { level: 'warning', message })

/** Keeps the noise floor of each device that has one, and names the others. */
function keepFloors(stage: Stage, devices: readonly Device[], pairs: readonly Pair[], source: InterleaveSource, sessionId: string): void {
  const { history } = stage.deps
  const measuredAt = new Date().toISOString()
  const without = devices.filter((device) => {
    const floor = noiseFloorOf(device, pairs, source.blocks, { measuredAt, sessionId })
    if (floor) history.putNoiseFloor(floor)
    return !floor
  })
  if (without.length > 0) tell(stage, `No pair of cases could be measured on ${without.map(({ name }) => name).join(', ')}, so no noise floor is kept for it.`)
  if (without.length < devices.length) stage.emitter.emit('noiseFloors', history.noiseFloors())
}
