import type { BenchmarkCase } from '@core/case'
import type { Result } from '@core/result'
import type { Environment } from '@core/session/types'

/** Whether a result counts as failed: everything that was tried and gave no right measurement. */
export const isFailure = ({ status }: Result): boolean => status !== 'ok' && status !== 'skipped'

/** Which operations and devices a session holds, for the list and the search. Devices by name where the environment knows it. */
export class Contents {
  readonly #names: ReadonlyMap<string, string>
  readonly #ops: Set<string>
  readonly #devices: Set<string>

  constructor(environment: Environment, ops: readonly string[] = [], devices: readonly string[] = []) {
    this.#names = new Map(environment.devices.map((device) => [device.id, device.name]))
    this.#ops = new Set(ops)
    this.#devices = new Set(devices)
  }

  /** Returns whether the case brought anything new. */
  add(c: BenchmarkCase): boolean {
    const before = this.#ops.size + this.#devices.size
    this.#ops.add(c.op)
    this.#devices.add(this.#names.get(c.device) ?? c.device)
    return this.#ops.size + this.#devices.size > before
  }

  get ops(): string[] {
    return [...this.#ops]
  }

  get devices(): string[] {
    return [...this.#devices]
  }
}
