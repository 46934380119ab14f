import type { HostKind } from '../runner/types'
import { RemoteBox, type BoxOptions, type Remote } from './box'
import { RemoteStore } from './store'

export type { Remote } from './box'
export { RemoteStore } from './store'

/** The remote machines of a data folder with their lines. */
export class Remotes {
  readonly store: RemoteStore
  readonly #boxes = new Map<string, RemoteBox>()

  constructor(
    folder: string,
    private readonly options: BoxOptions = {},
  ) {
    this.store = new RemoteStore(folder)
    const silenceMs = Number(options.env?.['OPSCOPE_TEST_LINE_SILENCE_MS'])
    if (options.env?.['OPSCOPE_TEST_BACKEND'] === '1' && silenceMs > 0) this.options = { ...options, silenceMs, patienceMs: 120_000, retryMs: [500] }
  }

  /** Hosts of these machines, of all when absent; none is started by asking. */
  kinds(names?: ReadonlySet<string>): HostKind[] {
    return this.store.list().filter(({ name }) => !names || names.has(name)).flatMap((remote) => this.#box(remote).kinds)
  }

  /** Adds a machine once it was reached; nothing is kept where it cannot be used. */
  async add(destination: string, name?: string): Promise<Remote> {
    const remote = this.store.add(destination, name)
    try {
      await this.#box(remote).check()
      return remote
    } catch (error) {
      this.remove(remote.name)
      throw error
    }
  }

  remove(name: string): void {
    this.store.remove(name)
    this.#boxes.get(name)?.close()
    this.#boxes.delete(name)
  }

  close(): void {
    for (const box of this.#boxes.values()) box.close()
  }

  #box(remote: Remote): RemoteBox {
    const box = this.#boxes.get(remote.name) ?? new RemoteBox(remote, this.options)
    this.#boxes.set(remote.name, box)
    return box
  }
}
