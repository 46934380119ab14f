import { CaseError, type Backend, type Device, type EnergyMeter, type PreparedCase, type Problem } from '@core/backend'
import type { WorkerSlot, Offer } from './describe'
import { openRequest, PythonPreparedCase } from './prepared-case'
import { PROTOCOL_VERSION, type Answer } from './protocol'
import { PythonWorker, type Patience, type WorkerCommand } from './worker-process'

export interface PythonBackendDeps {
  /** What there is now; asked for each list. */
  offers(): Promise<Offer[]>
  pool: Pick<WorkerPool, 'take' | 'give'>
  /** For opening: compilers take minutes. */
  patience: Patience
  /** The energy counter of what a worker computes on. */
  energyMeter?: (lane: WorkerSlot) => EnergyMeter | { reason: string }
  /** For every other request; that of PythonPreparedCase where absent. */
  step?: Patience
}

/** NumPy, PyTorch and Triton of the Pythons at hand. Each case is computed and timed in a worker process of its interpreter and device. */
export class PythonBackend implements Backend {
  readonly id = 'python'
  #lanes: Map<string, WorkerSlot> | undefined

  constructor(private readonly deps: PythonBackendDeps) {}

  async devices(): Promise<Device[]> {
    const offers = await this.deps.offers()
    this.#lanes = new Map(offers.flatMap(({ device, lane }) => (lane ? [[device.id, lane]] : [])))
    return offers.map(({ device }) => device)
  }

  async open(problem: Problem, alive: () => void = () => undefined): Promise<PreparedCase> {
    const { device } = problem.case
    const lane = await this.#laneOf(device)
    const { pool, patience, step, energyMeter } = this.deps
    const worker = await pool.take(lane, alive)
    try {
      const { answer } = await worker.ask(openRequest(problem), patience, alive)
      const release = (sound: boolean) => {
        if (!sound) worker.kill()
        pool.give(lane, worker)
      }
      const prepared = new PythonPreparedCase(worker, problem, answer, release, step)
      return energyMeter ? Object.assign(prepared, { energyMeter: () => energyMeter(lane) }) : prepared
    } catch (error) {
      if (!(error instanceof CaseError && error.code === 'unsupported')) worker.kill()
      pool.give(lane, worker)
      throw error
    }
  }

  /** A process that was started for a case has listed nothing yet. */
  async #laneOf(device: string): Promise<WorkerSlot> {
    if (!this.#lanes?.has(device)) await this.devices()
    const lane = this.#lanes?.get(device)
    if (!lane) throw new CaseError('unsupported', `no Python can be used as "${device}"; usable are ${[...(this.#lanes?.keys() ?? [])].join(', ') || 'none'}`)
    return lane
  }
}

export interface PoolDeps {
  command(lane: WorkerSlot): WorkerCommand
  /** Path of the guest library. */
  guest: string
  /** For the start, imports included. */
  patience: Patience
}

const keyOf = ({ python, hardware, ordinal }: WorkerSlot) => `${python}|${hardware}|${ordinal}`

/** Idle workers of a lane at most: each holds its imported libraries and, on a GPU, a context. */
const MOST_IDLE = 3

/** The workers of a lane: those idle, how many are with cases, and how many ever were at once. */
interface Lane {
  idle: PythonWorker[]
  out: number
  mostOut: number
}

/** Workers that are kept warm: for each lane as many as were with cases at once, up to {@link MOST_IDLE}. */
export class WorkerPool {
  readonly #lanes = new Map<string, Lane>()
  readonly #said = new Map<string, Answer<'hello'>>()

  constructor(private readonly deps: PoolDeps) {}

  /** What the last worker of this lane said when it started. */
  said = (lane: WorkerSlot): Answer<'hello'> | undefined => this.#said.get(keyOf(lane))

  /** A worker that has said hello and is the caller's until given back. Throws a CaseError when none can be had. */
  async take(slot: WorkerSlot, alive: () => void): Promise<PythonWorker> {
    const lane = this.#laneOf(slot)
    const worker = lane.idle.filter(({ usable }) => usable).at(-1) ?? (await this.#start(slot, alive))
    lane.idle = lane.idle.filter((one) => one !== worker && one.usable)
    lane.out++
    lane.mostOut = Math.max(lane.mostOut, lane.out)
    return worker
  }

  /** Takes a worker back that has no case open any more; it is ended where it is not usable, or one too many. */
  give(slot: WorkerSlot, worker: PythonWorker): void {
    const lane = this.#laneOf(slot)
    lane.out--
    if (!worker.usable || lane.idle.length >= Math.min(lane.mostOut, MOST_IDLE)) worker.kill()
    else lane.idle.push(worker)
  }

  #laneOf(slot: WorkerSlot): Lane {
    const key = keyOf(slot)
    const lane = this.#lanes.get(key) ?? { idle: [], out: 0, mostOut: 0 }
    this.#lanes.set(key, lane)
    return lane
  }

  async #start(slot: WorkerSlot, alive: () => void): Promise<PythonWorker> {
    const worker = startWorker(this.deps.command(slot))
    try {
      const { hardware, ordinal } = slot
      const { answer } = await worker.ask({ do: 'hello', protocol: PROTOCOL_VERSION, hardware, ordinal, guest: this.deps.guest }, this.deps.patience, alive)
      this.#said.set(keyOf(slot), answer)
      return worker
    } catch (error) {
      worker.kill()
      throw error
    }
  }
}

function startWorker(command: WorkerCommand): PythonWorker {
  try {
    return new PythonWorker(command)
  } catch (error) {
    throw new CaseError('unsupported', `the Python ${command.program} could not be started: ${error instanceof Error ? error.message : String(error)}`)
  }
}
