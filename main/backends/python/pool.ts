import { CaseError } from '@core/backend'
import type { Lane } from './describe'
import { PROTOCOL_VERSION, type Answer } from './protocol'
import { PythonWorker, type Patience, type WorkerCommand } from './worker-process'

export interface PoolDeps {
  command(lane: Lane): WorkerCommand
  /** Path of the guest library. */
  guest: string
  /** For the start, imports included. */
  patience: Patience
}

const keyOf = ({ python, hardware, ordinal }: Lane) => `${python}|${hardware}|${ordinal}`

/** Workers that are kept warm, one for each lane beside those that a case has. */
export class WorkerPool {
  readonly #idle = new Map<string, PythonWorker>()
  readonly #said = new Map<string, Answer<'hello'>>()

  constructor(private readonly deps: PoolDeps) {}

  /** What the last worker of this lane said when it started. */
  said = (lane: Lane): Answer<'hello'> | undefined => this.#said.get(keyOf(lane))

  /** A worker that has said hello and is the caller's until given back. Throws a CaseError when none can be had. */
  async take(lane: Lane, alive: () => void): Promise<PythonWorker> {
    const key = keyOf(lane)
    const idle = this.#idle.get(key)
    this.#idle.delete(key)
    if (idle?.usable) return idle
    const worker = startWorker(this.deps.command(lane))
    try {
      const { hardware, ordinal } = lane
      const { answer } = await worker.ask({ do: 'hello', protocol: PROTOCOL_VERSION, hardware, ordinal, guest: this.deps.guest }, this.deps.patience, alive)
      this.#said.set(key, answer)
      return worker
    } catch (error) {
      worker.kill()
      throw error
    }
  }

  /** Takes a worker back that has no case open any more; one too many is ended. */
  give(lane: Lane, worker: PythonWorker): void {
    const key = keyOf(lane)
    if (!worker.usable || this.#idle.has(key)) worker.kill()
    else this.#idle.set(key, worker)
  }
}

function startWorker(command: WorkerCommand): PythonWorker {
  try {
    return new PythonWorker(command)
  } catch (error) {
    throw new CaseError('unsupported', `the Python ${command.program} could not be started: ${error instanceof Error ? error.message : String(error)}`)
  }
}
