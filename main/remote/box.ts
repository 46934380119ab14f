import { createReadStream, existsSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { backendsOf } from '@core/backends'
import { placeOf, remoteDevice } from '@core/fleet/place'
import { fromHostSchema, type HostLink } from '@core/measure/protocol'
import type { MachineFacts } from '@core/session/types'
import type { AgentHost, AgentState } from '../agent/protocol'
import type { HostKind } from '../runner/types'
import { AgentMissing, RemoteLine } from './line'
import { RemoteProblem, remoteProblemOf } from './problem'
import { startSsh } from './ssh'
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { version } from '../../package.json'

/** The agent as one file for the machines it can run on. */
export interface Archive {
  path: string
  /** Folder that it is unpacked to there: version, and the beginning of its hash. */
  id: string
}

const nameOf = (platform: string) => `opscope-agent-${version}-${platform}.tar.gz`

/** What `uname -sm` says, as archives are called. */
const PLATFORMS: Readonly<Record<string, string>> = { 'Linux x86_64': 'linux-x64', 'Linux aarch64': 'linux-arm64' }

/** Where `npm run package -- --agent` leaves archives, and where a packed app has them. */
function places(env: NodeJS.ProcessEnv): string[] {
  const here = dirname(fileURLToPath(import.meta.url))
  const { resourcesPath } = process as { resourcesPath?: string }
  const own = env['OPSCOPE_AGENT_FOLDER']
  return [...(own ? [own] : []), ...(resourcesPath ? [join(resourcesPath, 'agents')] : []), join(here, '..', '..', 'dist'), join(here, '..', '..', '..', 'dist')]
}

/** The archive for a machine of which `uname -sm` says this. Throws a RemoteProblem where there is none. */
export async function findArchive(uname: string, env: NodeJS.ProcessEnv = process.env): Promise<Archive> {
  const platform = PLATFORMS[uname]
  if (platform === undefined) throw new RemoteProblem(`Opscope's agent runs on Linux (x86_64, aarch64), not on ${uname}.`, false)
  const path = places(env).map((folder) => join(folder, nameOf(platform))).find((file) => existsSync(file))
  if (path === undefined) throw new RemoteProblem(`There is no agent to copy: make ${nameOf(platform)} with "npm run package -- --agent" on a ${platform} machine and put it into dist.`, false)
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return { path, id: `${version}-${hash.digest('hex').slice(0, 16)}` }
}

/** A machine that the user has added. */
export interface Remote {
  name: string
  destination: string
}

export interface BoxOptions {
  env?: NodeJS.ProcessEnv
  /** Tells the user what a run waits for, and that it goes on. */
  notice?: (message: string) => void
  /** What the devices of a machine do; none when its line has ended. */
  onState?: (name: string, devices: readonly AgentState[]) => void
  /** Pauses before a run tries again, the last one from then on, and the longest it waits in all; in ms. */
  retryMs?: readonly number[]
  patienceMs?: number
  /** Silence after which the line is taken for broken, in ms. */
  silenceMs?: number
}

const RETRY_MS = [1000, 2000, 5000, 10_000, 30_000]
const PATIENCE_MS = 30 * 60_000

/** Where agents lie there: `~/.cache/opscope/agents`. */
const FOLDER = 'r="${XDG_CACHE_HOME:-$HOME/.cache}/opscope/agents"'

/** The empty line ends whatever a login script has printed without an end. */
const startScript = (id: string) => `${FOLDER}; d="$r/${id}"; if [ -x "$d/bin/opscope" ]; then echo; exec "$d/bin/opscope" agent; fi; echo "opscope-agent-missing $(uname -s) $(uname -m)"; exit 3`

/** Unpacks stdin beside its place and moves it there whole. What a copy that was killed has left there is removed. */
const installScript = (id: string) => `set -e; umask 077; ${FOLDER}; mkdir -p "$r"; find "$r" -maxdepth 1 -name ".part-*" -mmin +60 -exec rm -rf {} + 2>/dev/null || :; t="$r/.part-$$"; rm -rf "$t"; trap "rm -rf \\"$t\\"" EXIT; mkdir "$t"; tar -xzf - -C "$t"; [ -e "$r/${id}" ] || mv "$t" "$r/${id}"`

/** Another machine reached by ssh: one line to its agent, which is copied there where it is missing, for all its hosts. */
export class RemoteBox {
  readonly kinds: readonly HostKind[]
  #line: RemoteLine | undefined
  #opening: Promise<RemoteLine> | undefined
  #facts: MachineFacts | undefined
  #archive: Archive | undefined
  #uname = 'Linux x86_64'
  #closed = false

  constructor(
    readonly remote: Remote,
    private readonly options: BoxOptions = {},
  ) {
    this.kinds = [this.#kind('native'), this.#kind('python')]
  }

  /** Ends the line; nothing is started any more. */
  close(): void {
    this.#closed = true
    this.#line?.close()
  }

  /** Connects, copying the agent where it is missing. Rejects with a RemoteProblem. */
  async check(): Promise<MachineFacts> {
    return (await this.#connected()).facts
  }

  #kind(host: AgentHost): HostKind {
    const { name } = this.remote
    return {
      id: `${name}/${host}`,
      machine: name,
      backends: backendsOf(host),
      facts: () => this.#facts,
      start: async (patient = false) => {
        const line = patient ? await this.#waitedFor() : await this.#connected()
        return placed(name, await line.start(host))
      },
    }
  }

  /** The line, waiting for a machine that is out of reach. */
  async #waitedFor(): Promise<RemoteLine> {
    const { notice, retryMs = RETRY_MS, patienceMs = PATIENCE_MS } = this.options
    const { name } = this.remote
    const begun = performance.now()
    for (let attempt = 0; ; attempt++) {
      try {
        const line = await this.#connected()
        if (attempt > 0) notice?.(`${name} is back; the run goes on.`)
        return line
      } catch (error) {
        const waits = error instanceof RemoteProblem && error.passing && !this.#closed && performance.now() - begun < patienceMs
        if (!waits) throw error
        if (attempt === 0) notice?.(`${error.message} The run waits for ${name} and goes on when it is back.`)
        await sleep(retryMs[Math.min(attempt, retryMs.length - 1)]!)
      }
    }
  }

  async #connected(): Promise<RemoteLine> {
    if (this.#closed) throw new RemoteProblem(`${this.remote.name} was removed.`, false)
    if (this.#line?.isOpen) return this.#line
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined))
    return this.#opening
  }

  async #open(): Promise<RemoteLine> {
    this.#archive ??= await findArchive(this.#uname, this.options.env)
    const line = await this.#dial(this.#archive).catch(async (error: unknown) => {
      if (!(error instanceof AgentMissing)) throw error
      // The archive is chosen anew where the machine turns out to be another than was taken for granted.
      if (error.platform !== this.#uname) {
        this.#archive = await findArchive(error.platform, this.options.env)
        this.#uname = error.platform
      }
      await this.#install(this.#archive!)
      return this.#dial(this.#archive!).catch((again: unknown) => {
        throw again instanceof AgentMissing ? new RemoteProblem(`Opscope's agent was copied to ${this.remote.name} and cannot be started there: programs in its ~/.cache/opscope must be allowed to run.`, false) : again
      })
    })
    this.#line = line
    this.#facts = line.facts
    return line
  }

  async #dial(archive: Archive): Promise<RemoteLine> {
    const { name, destination } = this.remote
    const { env, onState, silenceMs } = this.options
    return RemoteLine.open(startSsh(destination, startScript(archive.id), env), { name, destination, ...(silenceMs === undefined ? {} : { silenceMs }), onState: (devices) => onState?.(name, devices), onClose: () => onState?.(name, []) })
  }

  async #install({ path, id }: Archive): Promise<void> {
    const { name, destination } = this.remote
    this.options.notice?.(`Copying Opscope's agent to ${name} …`)
    const ssh = startSsh(destination, installScript(id), this.options.env)
    let stderr = ''
    ssh.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-8000)))
    ssh.stdout.resume()
    const closed = new Promise<number | null>((resolve, reject) => {
      ssh.on('error', (error) => reject(new RemoteProblem(`ssh could not be started: ${error.message}`, false)))
      ssh.on('close', (code) => resolve(code))
    })
    // A disk that is full ends the other side before all is sent; its own words say why.
    await pipeline(createReadStream(path), ssh.stdin).catch(() => undefined)
    const code = await closed
    if (code !== 0) throw remoteProblemOf(name, destination, stderr, `Opscope's agent could not be copied to ${name}.`)
  }
}

/** A link whose devices are those of the machine of this name. */
export function placed(name: string, link: HostLink): HostLink {
  /** Cases that were asked for, as they are called here. */
  const asked = new Map<number, string>()
  return {
    send(message) {
      if (message.type !== 'measure') return link.send(message)
      asked.set(message.id, message.case.device)
      link.send({ ...message, case: { ...message.case, device: placeOf(message.case.device).device } })
    },
    onMessage: (listener) =>
      link.onMessage((raw) => {
        const parsed = fromHostSchema.safeParse(raw)
        if (!parsed.success) return listener(raw)
        const message = parsed.data
        if (message.type === 'devices') return listener({ ...message, devices: message.devices.map((device) => remoteDevice(name, device)) })
        if (message.type !== 'result') return listener(message)
        const device = asked.get(message.id)
        asked.delete(message.id)
        listener(device === undefined ? message : { ...message, result: { ...message.result, case: { ...message.result.case, device } } })
      }),
    onExit: (listener) => link.onExit(listener),
    kill: () => link.kill(),
  }
}
