import { CaseError, type Backend, type Device, type PreparedCase, type Problem } from '@core/backend'
import type { Lane, Offer } from './describe'
import type { WorkerPool } from './pool'
import { openRequest, PythonPreparedCase } from './prepared-case'
import type { Patience } from './worker-process'

export interface PythonBackendDeps {
  /** What there is now; asked for each list. */
  offers(): Promise<Offer[]>
  pool: Pick<WorkerPool, 'take' | 'give'>
  /** For opening: compilers take minutes. */
  patience: Patience
  /** For every other request; that of PythonPreparedCase where absent. */
  step?: Patience
}

/** NumPy, PyTorch and Triton of the Pythons at hand. Each case is computed and timed in a worker process of its interpreter and device. */
export class PythonBackend implements Backend {
  readonly id = 'python'
  #lanes: Map<string, Lane> | undefined

  constructor(private readonly deps: PythonBackendDeps) {}

  async devices(): Promise<Device[]> {
    const offers = await this.deps.offers()
    this.#lanes = new Map(offers.flatMap(({ device, lane }) => (lane ? [[device.id, lane]] : [])))
    return offers.map(({ device }) => device)
  }

  async open(problem: Problem, alive: () => void = () => undefined): Promise<PreparedCase> {
    const { device } = problem.case
    const lane = await this.#laneOf(device)
    const { pool, patience, step } = this.deps
    const worker = await pool.take(lane, alive)
    try {
      const { answer } = await worker.ask(openRequest(problem), patience, alive)
      const release = (sound: boolean) => (sound ? pool.give(lane, worker) : worker.kill())
      return new PythonPreparedCase(worker, problem, answer, release, step)
    } catch (error) {
      if (error instanceof CaseError && error.code === 'unsupported') pool.give(lane, worker)
      else worker.kill()
      throw error
    }
  }

  /** A process that was started for a case has listed nothing yet. */
  async #laneOf(device: string): Promise<Lane> {
    if (!this.#lanes?.has(device)) await this.devices()
    const lane = this.#lanes?.get(device)
    if (!lane) throw new CaseError('unsupported', `no Python can be used as "${device}"; usable are ${[...(this.#lanes?.keys() ?? [])].join(', ') || 'none'}`)
    return lane
  }
}
