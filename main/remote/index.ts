import type { HostKind } from '../runner/types'
import { type BoxOptions, type Remote, RemoteBox } from './box'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { HOST_NAME } from '@core/fleet/place'
import { writeFileAtomic } from '../write-file'
import { DESTINATION } from './ssh'

const MAX_REMOTES = 64
const remotesSchema = z.array(z.object({ name: z.string().regex(HOST_NAME), destination: z.string().regex(DESTINATION) })).max(MAX_REMOTES)

/** Name that a machine gets where the user gives none: `gpubox` of `me@gpubox.lab.example:22`. */
export function nameFor(destination: string): string {
  const host = destination.replace(/^ssh:\/\//, '').replace(/^[^@]*@/, '')
  const name = (/^[\d.]+(?::|$)/.test(host) ? host.replace(/:\d+$/, '') : host.split(/[.:]/)[0]!).replaceAll(/[^\w.-]/g, '-')
  return HOST_NAME.test(name) ? name.slice(0, 40) : 'remote'
}

/** The machines the user has added, kept in the data folder. Only names and destinations: keys and passwords are ssh's. */
export class RemoteStore {
  readonly #file: string
  #remotes: readonly Remote[]
  /** What was wrong with the file at start, for the user. */
  readonly notice?: string

  constructor(folder: string) {
    this.#file = join(folder, 'remotes.json')
    this.#remotes = []
    if (!this.#read()) this.notice = 'The list of remote machines could not be read; add them again.'
  }

  /** As it is now: the window and the command line may both change it. */
  list(): readonly Remote[] {
    this.#read()
    return this.#remotes
  }

  /** Takes over what the file has; false where that cannot be read, and what was known stands. */
  #read(): boolean {
    try {
      this.#remotes = existsSync(this.#file) ? remotesSchema.parse(JSON.parse(readFileSync(this.#file, 'utf8'))) : []
      return true
    } catch {
      return false
    }
  }

  /** Keeps a machine. Throws RangeError where the name or the destination cannot be used. */
  add(destination: string, given?: string): Remote {
    const remote = this.proposed(destination, given)
    this.#save([...this.#remotes, remote])
    return remote
  }

  /** What a machine would be called. Throws RangeError as `add` does. */
  proposed(destination: string, given?: string): Remote {
    const same = this.list().find((one) => one.destination === destination)
    if (same && given === undefined) throw new RangeError(`there is a remote machine "${same.name}" for ${destination} already`)
    const name = given ?? this.#freeName(nameFor(destination))
    const remote = { name, destination }
    if (!DESTINATION.test(destination)) throw new RangeError(`"${destination}" is no destination of ssh; expected user@host or a Host of its config`)
    if (this.#remotes.length >= MAX_REMOTES) throw new RangeError(`there are ${MAX_REMOTES} remote machines already; remove one first`)
    if (!HOST_NAME.test(name)) throw new RangeError(`"${name}" cannot be the name of a machine; expected letters, digits, dots and dashes`)
    if (this.#remotes.some((one) => one.name === name)) throw new RangeError(`there is a remote machine "${name}" already; give this one another name`)
    return remote
  }

  /** `gpubox`, or `gpubox-2` where another machine has that name. */
  #freeName(name: string): string {
    const taken = new Set(this.#remotes.map((one) => one.name))
    for (let i = 1; ; i++) {
      const free = i === 1 ? name : `${name.slice(0, 36)}-${i}`
      if (!taken.has(free)) return free
    }
  }

  /** Throws RangeError where there is none of this name. */
  remove(name: string): void {
    if (!this.list().some((one) => one.name === name)) throw new RangeError(`there is no remote machine "${name}"; there are: ${this.#remotes.map((one) => one.name).join(', ') || 'none'}`)
    this.#save(this.#remotes.filter((one) => one.name !== name))
  }

  #save(remotes: readonly Remote[]): void {
    writeFileAtomic(this.#file, [JSON.stringify(remotesSchema.parse(remotes), undefined, 2)])
    this.#remotes = remotes
  }
}

export type { Remote } from './box'

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
    const remote = this.store.proposed(destination, name)
    try {
      await this.#box(remote).check()
      return this.store.add(destination, remote.name)
    } catch (error) {
      this.#forget(remote.name)
      throw error
    }
  }

  remove(name: string): void {
    this.store.remove(name)
    this.#forget(name)
  }

  #forget(name: string): void {
    this.#boxes.get(name)?.close()
    this.#boxes.delete(name)
  }

  close(): void {
    for (const box of this.#boxes.values()) box.close()
  }

  #box(remote: Remote): RemoteBox {
    const known = this.#boxes.get(remote.name)
    // Another process may have given the name to another machine.
    if (known?.remote.destination === remote.destination) return known
    known?.close()
    const box = new RemoteBox(remote, this.options)
    this.#boxes.set(remote.name, box)
    return box
  }
}
