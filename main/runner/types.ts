import type { CeilingScope } from '@core/roofline/ceilings'
import type { Device } from '@core/backend'
import type { BenchmarkCase } from '@core/case'
import type { Pair } from '@core/compare'
import type { RunState } from '@core/ipc'
import type { HostLink } from '@core/measure/protocol'
import type { RowBlock } from '@core/session/rows'
import type { Ceiling, MachineFacts, NoiseFloor, SessionFile } from '@core/session/types'
import type { SweepSpec } from '@core/session/sweep-spec'

/** Something that can start a measurement host. One per kind of process: native worker, WebGPU page. */
export interface HostKind {
  id: string
  /** Backend ids it serves, known without starting it. */
  backends: readonly string[]
  /** The machine it runs on, where that is not this one; ids of its devices begin with it. */
  machine?: string
  /** What a start depends on: a host that was started with another is replaced before it is asked for its devices. */
  setting?(): string
  /**
   * Resolves when the host has said `ready`; rejects with a plain reason when it cannot be had. `patient`: a run needs it, so
   * that a machine that is out of reach is waited for.
   */
  start(patient?: boolean): Promise<HostLink>
  /** Facts about the machine of another host, once it was reached. */
  facts?(): MachineFacts | undefined
}

export interface RunnerEvents {
  state: RunState
  /** At most ten a second. */
  results: { sessionId: string; block: RowBlock }
  ended: {
    sessionId: string
    state: 'done' | 'stopped'
    failures: number
    /** How many of them ran out of memory in this run; absent: none. */
    outOfMemory?: number
    /** Why the run ended before its time: what was measured could not be stored. */
    problem?: string
    /** How many results are in no history; `Runner.unsaved` has them. */
    unsaved?: number
  }
  devices: Device[]
  ceilings: Ceiling[]
  noiseFloors: NoiseFloor[]
  notice: { level: 'info' | 'warning' | 'error'; message: string; detail?: string }
}

/** Plans, runs, stores. One run at a time; a second start throws BusyError. */
export interface Runner {
  devices(refresh: boolean): Promise<Device[]>
  /** `only`: the cases of the sweep to measure; all when absent. */
  start(spec: SweepSpec, name?: string, only?: (c: BenchmarkCase) => boolean): Promise<{ sessionId: string }>
  /** Runs the remaining cases of a stopped or interrupted session into the same session. */
  resumeSession(sessionId: string): Promise<{ sessionId: string }>
  /** `scope`: for which levels and thread counts of processors; absent: the preferred level on one and on all threads. */
  measureCeilings(deviceIds: readonly string[], scope?: CeilingScope): Promise<{ sessionId: string }>
  /** Compares cases of these devices (all available ones when empty) with themselves and keeps each device's noise floor. */
  selfCheck(deviceIds: readonly string[], pairs?: number): Promise<{ sessionId: string }>
  /** Measures pairs by interleaved ABBA blocks until each has a clear verdict or the most blocks, into a session of its own that adds to `sessionId`. Rejects where they cannot join it. Without a threshold that of the settings. */
  interleave(pairs: readonly Pair[], sessionId: string, threshold?: number): Promise<{ sessionId: string }>
  /** Why `interleave` would refuse these pairs on this machine, in one sentence; undefined where it would not. */
  whyNotInterleaved(pairs: readonly Pair[], sessionId: string): Promise<string | undefined>
  pause(): RunState
  resume(): RunState
  /** Ends the running case and keeps what is done. */
  stop(): RunState
  state(): RunState
  /** The session of the last run with all its results, where not all of them could be stored; until the next run starts. */
  unsaved(): SessionFile | undefined
  on<E extends keyof RunnerEvents>(event: E, listener: (payload: RunnerEvents[E]) => void): () => void
  /** Stops hosts and waits for them to go. */
  dispose(): Promise<void>
}

export class BusyError extends Error {
  override name = 'BusyError'
}

/** How long the runner waits for others, in ms. Tests shorten them. */
export interface Limits {
  /** A host that says nothing for this long, or for four times the expected time of its case, has hung. */
  silenceMs: number
  /** How long a host may take to end its case after `cancel` before it is killed. */
  cancelMs: number
  /** How long a host may take to list its devices. */
  devicesMs: number
  /** Least time between two events of a kind to listeners. */
  eventMs: number
  /** Pause before a host that did not start is tried again. */
  retryMs: number
  /** Failed starts in a row after which a host is given up for the rest of the run. */
  startAttempts: number
}

export const LIMITS: Limits = { silenceMs: 30_000, cancelMs: 2_000, devicesMs: 60_000, eventMs: 100, retryMs: 250, startAttempts: 3 }
