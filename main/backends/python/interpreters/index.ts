import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Probe } from '../protocol'
import type { WorkerCommand } from '../worker-process'
import { probe, identityOf, stampOf, type ProbeCache, type Probed } from './probe'
import { findCandidates, fromLauncher, prefixOf, type Candidate, type Surroundings } from './sources'

export { ProbeCache } from './probe'
export type { Surroundings } from './sources'

/** A Python that was found, and what it says it can compute with. */
export interface Found extends Candidate {
  /** Folder of its environment, for ids of devices: [a-z0-9._-], distinct among those found. */
  name: string
  /** Or why that is not known, in a sentence that begins with `it`. */
  probed: Probed
}

export interface CatalogueDeps {
  surroundings: Surroundings
  /** Paths to look at instead of searching; empty: none. */
  only?: readonly string[] | undefined
  /** How an interpreter is asked. */
  command(path: string): WorkerCommand
  cache: ProbeCache
  /** What else answers depend on beside the interpreter: the probe itself, the driver. */
  conditions(): Promise<string>
  limitMs?: number
}

/** Longest that one probe may take, and that a list waits for all of them. */
const PROBE_MS = 50_000
/** On a machine with few processors more only slow each other down. */
const AT_ONCE = 2
/** A probe that failed is not tried again at once: a hanging one would hold up every run. */
const RETRY_MS = 5 * 60_000

/** The interpreters of this machine. Those that said something once are not asked again until they change. */
export class Catalogue {
  /** By path and stamp: answers of this process and probes in progress. */
  readonly #probes = new Map<string, Promise<Probed>>()
  readonly #turns: (() => void)[] = []
  #active = 0

  constructor(private readonly deps: CatalogueDeps) {}

  /** Every interpreter in order of discovery, each environment once. One that takes too long is listed as such, and its answer kept for the next time. */
  async list(): Promise<Found[]> {
    const { surroundings, limitMs = PROBE_MS } = this.deps
    const candidates = await this.#candidates()
    const conditions = await this.deps.conditions()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<Probed>((resolve) => (timer = setTimeout(() => resolve({ problem: 'its check has not finished; rescan devices in a minute' }), limitMs)))
    const probed = await Promise.all(candidates.map(async (candidate) => ({ ...candidate, probed: await Promise.race([this.#probed(candidate.path, `${conditions}|${stampOf(candidate.path, surroundings.home)}`), late]) })))
    clearTimeout(timer)
    return withNames(distinctByPrefix(probed))
  }

  async #candidates(): Promise<Candidate[]> {
    const { surroundings, only } = this.deps
    if (only) return only.map((path) => ({ path, source: 'settings' }))
    return findCandidates(surroundings, identityOf, surroundings.platform === 'win32' ? fromLauncher(await launcherListing()) : [])
  }

  #probed(path: string, stamp: string): Promise<Probed> {
    const { cache } = this.deps
    if (!existsSync(path)) return Promise.resolve({ problem: `there is no program at ${path}` })
    const cached = cache.get(path, stamp)
    if (cached) return Promise.resolve({ probe: cached })
    const key = `${path}|${stamp}`
    const known = this.#probes.get(key)
    if (known) return known
    const asked = this.#ask(path)
    this.#probes.set(key, asked)
    void asked.then((result) => {
      if ('probe' in result) cache.put(path, stamp, result.probe)
      else setTimeout(() => this.#probes.delete(key), RETRY_MS).unref()
    })
    return asked
  }

  async #ask(path: string): Promise<Probed> {
    if (this.#active >= AT_ONCE) await new Promise<void>((resolve) => this.#turns.push(resolve))
    this.#active += 1
    try {
      return await probe(this.deps.command(path), this.deps.limitMs ?? PROBE_MS)
    } finally {
      this.#active -= 1
      this.#turns.shift()?.()
    }
  }
}

const launcherListing = () => new Promise<string>((resolve) => execFile('py', ['-0p'], { timeout: 5000, windowsHide: true }, (_error, stdout) => resolve(String(stdout))))

/** Two programs of one environment are one Python, the first found. */
function distinctByPrefix<T extends { probed: Probed }>(found: readonly T[]): T[] {
  const prefixes = new Set<string>()
  return found.filter(({ probed }) => {
    if (!('probe' in probed)) return true
    const isNew = !prefixes.has(probed.probe.prefix)
    prefixes.add(probed.probe.prefix)
    return isNew
  })
}

/** Environments of projects have the same name everywhere; the project's says more. */
const COMMON = /^(\.?v?env|\.?virtualenv)$/i

function withNames(found: readonly Omit<Found, 'name'>[]): Found[] {
  const taken = new Set<string>()
  return found.map((one) => {
    const folder = 'probe' in one.probed ? one.probed.probe.prefix : prefixOf(one.path)
    const base = (COMMON.test(basename(folder)) ? basename(dirname(folder)) : basename(folder)).toLowerCase().replace(/[^a-z0-9._-]+/g, '-').replace(/^-|-$/g, '').slice(0, 30) || 'python'
    let name = base
    for (let i = 2; taken.has(name); i++) name = `${base}-${i}`
    taken.add(name)
    return { ...one, name }
  })
}

const has = (probe: Probe, name: string) => probe.packages.some((entry) => entry.name === name && entry.version !== undefined && entry.problem === undefined)

/** How much can be measured with it: PyTorch that reaches a GPU, PyTorch, NumPy, nothing. */
function worth({ probed }: Found): number {
  if (!('probe' in probed)) return 0
  const { probe } = probed
  if (probe.cuda.ok) return 4
  if (has(probe, 'torch')) return 3
  return has(probe, 'numpy') ? 2 : 1
}

/** The one to measure with where the user has not chosen: that which can do most, of equals the first. */
export const bestOf = (found: readonly Found[]): Found | undefined => found.reduce<Found | undefined>((best, one) => (best && worth(best) >= worth(one) ? best : one), undefined)
