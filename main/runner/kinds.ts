import type { Device } from '@core/backend'
import type { BenchmarkCase } from '@core/case'
import { INTERLEAVE, noiseFloorOf, type Pair, SELF_CHECK, THRESHOLD } from '@core/compare'
import { ceilingSettings, type CeilingScope } from '@core/roofline/ceilings'
import type { MeasureSettings } from '@core/measure/settings'
import { withRounds } from '@core/session/noisy-host'
import { isResumable } from '@core/session/types'
import type { SweepSpec } from '@core/session/sweep-spec'
import type { RunHooks } from './scheduler'
import { nothingToMeasure, type RunSetup, usedBy } from './run-setup'
import { interleaveSource, type InterleaveSource } from './sources/interleave-source'
import { sweepSource } from './sources/source'
import { BusyError } from './types'
import { listed, sessionName } from './words'

/** Runs the remaining cases of a stopped or interrupted session into the same session. */
export async function resumeSession(stage: RunSetup, sessionId: string): Promise<{ sessionId: string }> {
  const { history } = stage.deps
  // Marks what a dead process left; what still runs after that runs in another Opscope.
  history.interrupted()
  const { name, planned, failures, results, state } = history.summary(sessionId)
  if (state === 'running') throw new BusyError(`"${name}" is being measured by another Opscope.`)
  const { session, environment } = history.getSession(sessionId)
  const { spec, about } = session
  if (!isResumable(session))
    throw new Error(`"${name}" consists of interleaved measurements, which cannot be resumed; start it anew.`)
  const cases = history.remaining(sessionId)
  if (cases.length === 0) throw new Error(`All ${planned} cases of "${name}" have a result; there is nothing to resume.`)
  const devices = await stage.devices(cases)
  stage.checkJoinable(sessionId, cases, devices)
  stage.tellConcerns(usedBy(cases, devices))
  const settings = session.settings ?? stage.settings(spec?.preset ?? 'standard', spec?.measure)
  const source = about?.kind === 'ceilings' ? ceilingSource(stage, cases, devices, settings) : sweepSource({ cases, settings, repeats: spec?.repeats ?? 1, secondsOf: stage.secondsWith(settings, devices), gpuOf: stage.gpuOf(devices) })
  history.setState(sessionId, 'running')
  return stage.conductor.launch(
    { sessionId, sessionName: name, source, before: { results, failures } },
    // Ceilings of earlier versions say so by having no spec.
    about?.kind === 'ceilings' || !spec ? ceilingKeeper(stage, environment.devices) : {},
  )
}

/** Keeps what results say about the limits of these devices. */
const ceilingKeeper = ({ deps: { history, planner }, emitter }: RunSetup, devices: readonly Device[]): RunHooks => ({
  stored(result) {
    const device = devices.find(({ backend, id }) => backend === result.case.backend && id === result.case.device)
    const ceilings = device ? planner.ceilingsOf(device, result, history.ceilings()) : []
    for (const ceiling of ceilings) history.putCeiling(ceiling)
    if (ceilings.length > 0) emitter.emit('ceilings', history.ceilings())
  },
})

/** Cases of ceilings one after the other, those of each device with its own settings. */
function ceilingSource(stage: RunSetup, cases: readonly BenchmarkCase[], devices: readonly Device[], settings: MeasureSettings) {
  const deviceOf = (c: BenchmarkCase) => devices.find(({ backend, id }) => backend === c.backend && id === c.device)
  const own = new Map(devices.map((device) => [device, ceilingSettings(settings, device)]))
  const settingsOf = (c: BenchmarkCase) => own.get(deviceOf(c)!) ?? settings
  const secondsOf = new Map([...own.values()].map((one) => [one, stage.secondsWith(one, devices)]))
  return sweepSource({ cases, settings, settingsOf, repeats: 1, secondsOf: (c) => secondsOf.get(settingsOf(c))?.(c) ?? 0 })
}

/** Begins a session that measures the limits of these devices, of all available ones when empty; `scope`: for which levels and thread counts of processors. */
export async function measureCeilings(stage: RunSetup, deviceIds: readonly string[], scope: CeilingScope = {}): Promise<{ sessionId: string }> {
  const devices = await stage.available(deviceIds)
  const cases = devices.flatMap((device) => stage.deps.planner.ceilingCases(device, scope))
  if (cases.length === 0) throw new Error('No device is available whose ceilings could be measured.')
  const settings = ceilingSettings(stage.settings('standard'), devices.every(({ threads }) => threads.length > 0) ? devices[0] : undefined)
  return stage.create({
    session: { name: `Ceilings of ${listed([...new Set(devices.map((device) => device.name))], 3)}`.slice(0, 200), about: { kind: 'ceilings' }, settings, cases },
    source: ceilingSource(stage, cases, devices, settings),
    devices,
    hooks: () => ceilingKeeper(stage, devices),
  })
}

const sourceOf = (stage: RunSetup, pairs: readonly Pair[], threshold: number, devices: readonly Device[], quads?: number): InterleaveSource =>
  interleaveSource({ pairs, threshold, secondsOf: stage.secondsWith(INTERLEAVE.settings, devices), ...(quads === undefined ? {} : { quads }) })

/** Begins a session that measures these pairs interleaved and adds to the session they are of. */
export async function startInterleaved(stage: RunSetup, pairs: readonly Pair[], sessionId: string, threshold = stage.deps.settings().compareThreshold ?? THRESHOLD): Promise<{ sessionId: string }> {
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
export async function startSelfCheck(stage: RunSetup, deviceIds: readonly string[], count: number = SELF_CHECK.pairs): Promise<{ sessionId: string }> {
  const available = await stage.available(deviceIds)
  const pairs = stage.deps.planner.selfCheckPairs(available, count)
  const devices = usedBy(pairs.map(({ a }) => a), available)
  if (pairs.length === 0) throw new Error('No device is available for a noise floor measurement.')
  const source = sourceOf(stage, pairs, THRESHOLD, devices, SELF_CHECK.quads)
  return stage.create({
    session: { name: `Noise floor of ${listed([...new Set(devices.map((device) => device.name))], 3)}`.slice(0, 200), about: { kind: 'self-check' }, settings: INTERLEAVE.settings, cases: [] },
    source,
    devices,
    hooks: (sessionId) => ({
      ended: (state) => (state === 'done' ? keepFloors(stage, devices, pairs, source, sessionId) : tell(stage, 'The self-check was stopped, so no noise floor is kept.')),
    }),
  })
}

const tell = ({ emitter }: RunSetup, message: string) => emitter.emit('notice', { level: 'warning', message })

/** Keeps the noise floor of each device that has one, and names the others. */
function keepFloors(stage: RunSetup, devices: readonly Device[], pairs: readonly Pair[], source: InterleaveSource, sessionId: string): void {
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

/** Begins a sweep, or only these of its cases, as a new session. Throws with the reason when it has no case. */
export async function startSweep(stage: RunSetup, spec: SweepSpec, name?: string, only?: (c: BenchmarkCase) => boolean): Promise<{ sessionId: string }> {
  const devices = await stage.devices(spec.targets)
  const whole = stage.deps.planner.plan(spec, devices)
  const plan = only ? { ...whole, cases: whole.cases.filter(only) } : whole
  if (plan.cases.length === 0) throw new Error(nothingToMeasure(plan))
  const { settings } = withRounds(stage.settings(spec.preset, spec.measure), plan.cases, devices, stage.deps.history.noiseFloors())
  const { repeats = 1 } = spec
  const cases = Array.from({ length: repeats }, () => plan.cases).flat()
  return stage.create({
    session: { name: name?.trim() || sessionName(spec), settings, cases, spec },
    source: sweepSource({ cases, settings, repeats, secondsOf: stage.secondsWith(settings, devices), gpuOf: stage.gpuOf(devices) }),
    devices: usedBy(cases, devices),
  })
}
