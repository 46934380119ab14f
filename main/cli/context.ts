import { backendsOf } from '@core/backends'
import type { RunState } from '@core/ipc'
import type { SessionSummary } from '@core/session/types'
import type { GpuOrder, Settings } from '@core/settings'
import { openSettings } from '../app/settings-store'
import { spawnedWebgpuHostKind } from '../backends/webgpu/spawned'
import { openHistory, type History } from '../history'
import { nativeHostKind, pythonHostKind } from '../measurement/host'
import { openDataFolder, type DataPaths } from '../paths'
import { printable } from '../printable'
import { Remotes } from '../remote'
import { createRunner } from '../runner'
import type { HostKind, Runner } from '../runner/types'
import type { Screen } from './output/progress'

/** Where a command speaks. Results go to `out`, progress and remarks to `err`. */
export interface Io {
  out: { isTTY?: boolean | undefined; write(text: string): unknown }
  err: Omit<Screen, 'clearLine'>
  env: NodeJS.ProcessEnv
}

/** What commands share: the data folder, the history and the runner, each opened when first needed. */
export class Context {
  #paths: DataPaths | undefined
  #history: History | undefined
  #settings: Settings | undefined
  #runner: Runner | undefined
  #remotes: Remotes | undefined

  /** The same with everything escaped that could steer a terminal. */
  readonly io: Io & { err: Screen }

  constructor(private readonly raw: Io) {
    const { out, err, env } = raw
    this.io = {
      env,
      out: { isTTY: out.isTTY, write: (text) => out.write(printable(text)) },
      // A window that is made wider or narrower changes its columns.
      err: { isTTY: err.isTTY, get columns() { return err.columns }, write: (text) => err.write(printable(text)), clearLine: () => err.write('\r\u001b[2K') },
    }
  }

  get paths(): DataPaths {
    return (this.#paths ??= openDataFolder())
  }

  get history(): History {
    if (!this.#history) {
      const { history, notice } = openHistory(this.paths.history)
      if (notice !== undefined) this.remark(`opscope: ${notice}`)
      // Sessions of a process that was killed are told apart from those still being measured elsewhere.
      history.interrupted()
      this.#history = history
    }
    return this.#history
  }

  /** What the user has set in the app. */
  get settings(): Settings {
    if (!this.#settings) {
      const store = openSettings(this.paths.settings)
      if (store.notice !== undefined) this.remark(`opscope: ${store.notice}`)
      this.#settings = store.get()
    }
    return this.#settings
  }

  /** What the command says of the order of GPUs, in place of what is set in the app. */
  gpus: GpuOrder | undefined

  /** The remote machines that the user has added. */
  get remotes(): Remotes {
    if (!this.#remotes) {
      this.#remotes = new Remotes(this.paths.folder, { env: this.io.env, notice: (message) => this.remark(`opscope: ${message}`) })
      if (this.#remotes.store.notice !== undefined) this.remark(`opscope: ${this.#remotes.store.notice}`)
    }
    return this.#remotes
  }

  /** Every kind of host that this machine has; none is started by asking. */
  hostKinds(): HostKind[] {
    return [nativeHostKind(this.io.env), webgpuHostKind(this.io.env), pythonHostKind(() => this.settings.python, this.io.env)]
  }

  /** Backend ids in the order users see them. */
  backends(): string[] {
    return this.hostKinds().flatMap((kind) => kind.backends)
  }

  /**
   * The runner over the hosts that serve these backends, over all when absent, on the machines (undefined is this one); on
   * this one where those are absent. One per context.
   */
  runner(backends?: readonly string[], machines: ReadonlySet<string | undefined> = new Set([undefined])): Runner {
    const far = new Set([...machines].filter((name) => name !== undefined))
    const kinds = [...(machines.has(undefined) ? this.hostKinds() : []), ...(far.size > 0 ? this.remotes.kinds(far) : [])]
    const hostKinds = kinds.filter((kind) => !backends || kind.backends.some((id) => backends.includes(id)))
    return (this.#runner ??= createRunner({ history: this.history, hostKinds, settings: () => (this.gpus ? { ...this.settings, gpus: this.gpus } : this.settings) }))
  }

  sessions(search = ''): SessionSummary[] {
    return this.history.listSessions({ search, deleted: false })
  }

  print(text: string): void {
    this.io.out.write(`${text}\n`)
  }

  printJson(value: unknown): void {
    this.print(JSON.stringify(value, undefined, 2))
  }

  /** Part of a file, to the byte where it goes to a file or a pipe. */
  output(part: string): void {
    const { out } = this.raw
    out.write(out.isTTY ? printable(part) : part)
  }

  /** A line beside the results: progress, warnings, where something was written. */
  remark(text: string): void {
    this.io.err.write(`${text}\n`)
  }

  /** Whether a run is in progress, so that a signal should stop it rather than the program. */
  get phase(): RunState['phase'] {
    return this.#runner?.state().phase ?? 'idle'
  }

  /** What the first request to stop does where no run is in progress; the second ends the program. */
  onStop: (() => void) | undefined

  /** Stops the run in progress; its results are kept. */
  stop(): void {
    this.#runner?.stop()
  }

  async close(): Promise<void> {
    await this.#runner?.dispose()
    this.#remotes?.close()
    this.#history?.close()
  }
}

function webgpuHostKind(env: NodeJS.ProcessEnv): HostKind {
  const electron = env['OPSCOPE_ELECTRON']
  if (electron) return spawnedWebgpuHostKind(electron)
  const reason = env['OPSCOPE_ELECTRON_MISSING'] ?? 'WebGPU is measured in Electron, and OPSCOPE_ELECTRON does not name one; start through npm run opscope'
  return { id: 'webgpu', backends: backendsOf('webgpu'), start: () => Promise.reject(new Error(reason)) }
}
