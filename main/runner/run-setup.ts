import type { Device } from '@core/backend'
import type { BenchmarkCase } from '@core/case'
import { placeOf } from '@core/fleet/place'
import { type MeasureSettings, type PresetId, presetSettings } from '@core/measure/settings'
import { recordedCeilings, type CeilingScope } from '@core/roofline/ceilings'
import { whyNotJoinable } from '@core/session/joinable'
import type { Ceiling, Environment } from '@core/session/types'
import { DEFAULT_GPU_ORDER, type Settings } from '@core/settings'
import type { SweepSpec } from '@core/session/sweep-spec'
import { gpuOf } from '../exclusive'
import type { History, NewSession } from '../history/types'
import type { RunHooks, Scheduler } from './scheduler'
import type { Emitter } from './events'
import { type Fleet, serves, type Use } from './hosts/fleet'
import type { HostKind, Limits, RunnerEvents } from './types'
import type { CaseSource } from './sources/source'
import { listed } from './words'
import type { Pair } from '@core/compare'
import type { Result } from '@core/result'
import type { Took } from '@core/sweep/estimate'

/** What the runner needs of core's plan of a sweep. */
export interface SweepPlan {
  cases: readonly BenchmarkCase[]
  /** Mistakes in the picks, and devices that cannot be had. */
  problems: readonly string[]
  skipped: readonly { reason: string; count: number }[]
}

/** The pure decisions of a run; core's in the product (index.ts). */
export interface Planner {
  /** The cases of a sweep, in the order to measure, and what stands in the way of others. */
  plan(spec: SweepSpec, devices: readonly Device[]): SweepPlan
  /** Expected wall time of a case in seconds. */
  seconds(c: BenchmarkCase, settings: MeasureSettings, ceilings: readonly Ceiling[], devices: readonly Device[]): number
  /** The devices with how long their cases took on this machine, newest first, against the estimates. */
  paced(devices: readonly Device[], took: readonly Took[], ceilings: readonly Ceiling[]): Device[]
  /** The cases that measure a device's limits, and what one more result says, given what is known. */
  ceilingCases(device: Device, scope?: CeilingScope): readonly BenchmarkCase[]
  ceilingsOf(device: Device, result: Result, known: readonly Ceiling[]): readonly Ceiling[]
  /** So many pairs of a case with itself for each device. */
  selfCheckPairs(devices: readonly Device[], pairs: number): readonly Pair[]
}

/** Why a plan came to nothing, in a sentence. */
export function nothingToMeasure({ problems, skipped }: SweepPlan): string {
  const reasons = problems.length > 0 ? problems : skipped.map(({ reason, count }) => (count === 1 ? reason : `${reason} (${count} cases)`))
  return `Nothing can be measured: ${reasons.length > 0 ? listed(reasons, 4, '; ') : 'nothing is picked'}.`
}

export interface RunnerDeps {
  history: History
  /** Those there are now: machines are added and removed. */
  hostKinds: readonly HostKind[] | (() => readonly HostKind[])
  planner: Planner
  /** What the user has set that bears on runs, at this moment. */
  settings(): Pick<Settings, 'presets' | 'compareThreshold' | 'gpus'>
  environment(devices: readonly Device[]): Environment
  limits?: Partial<Limits>
}

/** A run to begin: its session, where its cases come from, and the devices they use, as these are now. */
export interface Plan {
  /** Without cases where the source decides on them as it goes; the session then counts them as it does. */
  session: Omit<NewSession, 'environment'>
  source: CaseSource
  devices: readonly Device[]
  /** For the session of this id. */
  hooks?(sessionId: string): RunHooks
}

/** The devices that these cases run on. */
export function usedBy(cases: readonly Pick<BenchmarkCase, 'backend' | 'device'>[], devices: readonly Device[]): Device[] {
  const used = new Set(cases.map(({ backend, device }) => `${backend} ${device}`))
  return devices.filter(({ backend, id }) => used.has(`${backend} ${id}`))
}

/** What every kind of run (kinds/) is set up with. */
export class RunSetup {
  /** Warnings that the user has been told. */
  readonly #told = new Set<string>()

  constructor(
    readonly deps: RunnerDeps,
    readonly fleet: Fleet,
    readonly conductor: Scheduler,
    readonly emitter: Emitter<RunnerEvents>,
  ) {}

  /** The settings of a preset as the user has it, with the overrides of one sweep. */
  settings(preset: PresetId, overrides: SweepSpec['measure'] = {}): MeasureSettings {
    return presetSettings(preset, this.deps.settings().presets, overrides)
  }

  /** Expected wall time of cases in seconds. */
  secondsWith(settings: MeasureSettings, devices: readonly Device[]): (c: BenchmarkCase) => number {
    const ceilings = this.deps.history.ceilings()
    return (c) => this.deps.planner.seconds(c, settings, ceilings, devices)
  }

  /** The GPU of a case on these devices, by machine; undefined where its cases are measured alone. */
  gpuOf(devices: readonly Device[]): ((c: BenchmarkCase) => string | undefined) | undefined {
    if ((this.deps.settings().gpus ?? DEFAULT_GPU_ORDER) === 'in-turn') return undefined
    const gpus = new Map(devices.map((device) => [`${device.backend} ${device.id}`, gpuOf(device)]))
    return ({ backend, device }) => {
      const gpu = gpus.get(`${backend} ${device}`)
      return gpu === undefined ? undefined : `${placeOf(device).host ?? ''} ${gpu}`
    }
  }

  /** Devices of the hosts that measure on these, asked anew: their state is part of what is measured. */
  devices(uses: readonly Use[]): Promise<Device[]> {
    return this.fleet.devices(true, (kind) => uses.some((use) => serves(kind, use)))
  }

  /** The devices of these ids that can be used; all of this machine that are hardware of their own when none is given. */
  async available(ids: readonly string[]): Promise<Device[]> {
    const machines = new Set(ids.map((id) => placeOf(id).host))
    const devices = await this.fleet.devices(true, ({ machine }) => (ids.length === 0 ? machine === undefined : machines.has(machine)))
    return devices.filter((device) => device.available.ok && (ids.length === 0 ? !device.sameHardwareAs : ids.includes(device.id)))
  }

  /** Tells what may disturb a run on these devices. */
  tellConcerns(devices: readonly Device[]): void {
    const message = concernsOf(devices, this.#told)
    if (message !== undefined) this.emitter.emit('notice', { level: 'warning', message })
  }

  /** Why measurements on these devices cannot join that session; undefined where they can. */
  whyNotJoinable(sessionId: string, cases: readonly BenchmarkCase[], devices: readonly Device[]): string | undefined {
    return whyNotJoinable(this.deps.history.getSession(sessionId).environment, this.deps.environment(devices), cases)
  }

  /** Throws with that reason. */
  checkJoinable(...what: Parameters<RunSetup['whyNotJoinable']>): void {
    const reason = this.whyNotJoinable(...what)
    if (reason !== undefined) throw new Error(reason)
  }

  /** Creates the session of a plan and launches its run. */
  create({ session, source, devices, hooks }: Plan): { sessionId: string } {
    const { history } = this.deps
    this.tellConcerns(devices)
    const { id, name } = history.createSession({ ...session, environment: this.#environment(devices, session.about) })
    const own = hooks?.(id) ?? {}
    const open = session.cases.length === 0
    if (open) history.setPlanned(id, source.total())
    return this.conductor.launch(
      { sessionId: id, sessionName: name, source, before: { results: 0, failures: 0 } },
      {
        ...own,
        ended: (state, total) => {
          if (open) history.setPlanned(id, total)
          own.ended?.(state, total)
        },
      },
    )
  }

  /** The environment of a session on these devices, with what is known of their noise and their limits. */
  #environment(devices: readonly Device[], about: NewSession['about']): Environment {
    const noiseFloors = this.deps.history.noiseFloors().filter((floor) => devices.some((d) => d.backend === floor.backend && d.id === floor.device && d.name === floor.deviceName && d.driver === floor.driver))
    // A session that measures ceilings is not judged by those before it.
    const ceilings = about?.kind === 'ceilings' ? [] : recordedCeilings(this.deps.history.ceilings(), devices)
    const here = this.deps.environment(devices.map((device) => ({ ...device, paces: undefined })))
    const machines = this.fleet.machines(devices)
    return { ...here, ...(machines.length > 0 ? { machines } : {}), ...(noiseFloors.length > 0 ? { noiseFloors } : {}), ...(ceilings.length > 0 ? { ceilings } : {}) }
  }
}

/** Sentences that are told of at once, at most. */
const MAX_SENTENCES = 6

/**
 * What a user should know of devices before a run on them, device by device; undefined when there is nothing.
 * Disturbances are told each time, since they come and go; a warning only while `told` does not hold it, which takes it in.
 */
function concernsOf(devices: readonly Device[], told: Set<string>): string | undefined {
  const byName = new Map<string, Set<string>>()
  for (const { name, disturbances = [], warnings } of devices) {
    const texts = byName.get(name) ?? new Set()
    const fresh = warnings.filter((text) => !told.has(`${name}: ${text}`))
    for (const text of fresh) told.add(`${name}: ${text}`)
    for (const text of [...disturbances, ...fresh]) texts.add(text.replace(/[.]$/, ''))
    byName.set(name, texts)
  }
  const sentences = [...byName].flatMap(([name, texts]) => [...texts].map((text, i) => (i === 0 ? `${name}: ${text}` : text)))
  return sentences.length === 0 ? undefined : `Warning: possible interference. ${listed(sentences, MAX_SENTENCES, '. ')}.`
}
