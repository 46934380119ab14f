import { existsSync } from 'node:fs'
import type { Availability, Device, Interpreter } from '@core/backend'
import { missingDevice } from '../../measurement/missing'
import { bestOf, type Found } from './interpreters'
import { identityOf } from './interpreters/probe'
import type { Answer } from './protocol'

/** Where cases of a device are computed: one worker process for each. */
export interface WorkerSlot {
  /** The program. */
  python: string
  hardware: 'cpu' | 'cuda'
  /** Index of the GPU; 0 for the CPU. */
  ordinal: number
}

/** A device with its lane, where it can be used. */
export interface Offer {
  device: Device
  lane?: WorkerSlot
}

type Said = Answer<'hello'>

export interface Described {
  found: readonly Found[]
  /** Programs in the order of the user; undefined: the best one found. */
  chosen: readonly string[] | undefined
  /** Devices of the native backends: the hardware. */
  hardware: readonly Device[]
  /** Why no Python can be used whatever it has, such as a missing library of ours. */
  problem?: string | undefined
  /** What a worker of this lane said when it started last. */
  said(lane: WorkerSlot): Said | undefined
}

/** Pythons that the distribution manages refuse pip. */
const managed = (python: string) => /^\/usr\/bin\/python/.test(python) && existsSync('/etc/debian_version')
const DEBIAN: Readonly<Record<string, string>> = { numpy: 'apt-get install python3-numpy', torch: 'apt-get install python3-torch' }

/** The command that installs a package into a Python; undefined where there is no usual way, or it would compute on nothing here. */
function installCommand(python: string, name: string, hardware: readonly Device[]): string | undefined {
  if (name === 'triton' && !hardware.some(({ backend, available }) => backend === 'cuda' && available.ok)) return undefined
  if (managed(python)) return DEBIAN[name]
  return `${/\s/.test(python) ? `"${python}"` : python} -m pip install ${name}`
}

function interpreterOf({ path, source, probed }: Found, hardware: readonly Device[], said?: Said): Interpreter {
  const packages = said?.packages ?? ('probe' in probed ? probed.probe.packages : [])
  const version = said?.python ?? ('probe' in probed ? probed.probe.python : undefined)
  return {
    path,
    source,
    ...(version === undefined ? {} : { version }),
    packages: packages.map((entry) => {
      const install = entry.version === undefined || entry.problem !== undefined ? installCommand(path, entry.name, hardware) : undefined
      return { ...entry, ...(install === undefined ? {} : { install }) }
    }),
  }
}

const TITLES: Readonly<Record<string, string>> = { numpy: 'NumPy', torch: 'PyTorch', triton: 'Triton', jax: 'JAX', cupy: 'CuPy' }

const factsOf = ({ version, packages }: Interpreter): Device['facts'] => [
  ...(version === undefined ? [] : [{ name: 'Python', value: version }]),
  ...packages.flatMap(({ name, version: of, detail }) => (of === undefined ? [] : [{ name: TITLES[name] ?? name, value: detail ? `${of} (${detail})` : of }])),
]

/** The device of a chosen Python on one piece of hardware. */
function offerOn(native: Device, one: Found, suffix: string, { said, problem, hardware }: Described): Offer {
  const lane: WorkerSlot = { python: one.path, hardware: native.backend === 'cpu' ? 'cpu' : 'cuda', ordinal: Number(native.id.split(':')[1] ?? 0) }
  const hello = said(lane)
  const interpreter = interpreterOf(one, hardware, hello)
  const available = problem === undefined ? availableOn(lane.hardware, one.probed) : { ok: false as const, reason: problem }
  const device: Device = {
    ...native,
    backend: 'python',
    id: `python:${native.id}${suffix}`,
    available,
    impls: 'probe' in one.probed ? one.probed.probe.impls[lane.hardware] : [],
    interpreter,
    facts: [...factsOf(interpreter), ...native.facts],
    sameHardwareAs: { backend: native.backend, id: native.id, name: native.name },
  }
  return available.ok ? { device, lane } : { device }
}

const availableOn = (hardware: WorkerSlot['hardware'], probed: Found['probed']): Availability => ('probe' in probed ? probed.probe[hardware] : { ok: false, reason: probed.problem })

/** A Python that stands in the list without being a device to measure on. */
const listed = (one: Found, reason: string, suffix: string, { hardware }: Described): Offer => ({ device: { ...missingDevice('python', reason), id: `python:cpu${suffix}`, name: 'Python', interpreter: interpreterOf(one, hardware) } })

/**
 * The devices of the chosen Pythons on the hardware at hand, the first `python:cpu` and `python:cuda:0`, others with their
 * name (`python:cpu@torch2`); after them every other Python found. One unavailable device where there is none at all.
 */
export function describe(state: Described): Offer[] {
  const { found, hardware, problem } = state
  const chosen = choose(state)
  const cpuAndGpus = hardware.filter((device) => device.available.ok)
  const offers = chosen.flatMap((one, place) => {
    const suffix = place === 0 ? '' : `@${one.name}`
    return 'probe' in one.probed && cpuAndGpus.length > 0 ? cpuAndGpus.map((native) => offerOn(native, one, suffix, state)) : [listed(one, problem ?? ('problem' in one.probed ? one.probed.problem : 'the native part found no hardware'), suffix, state)]
  })
  const others = found.filter((one) => !chosen.includes(one)).map((one) => listed(one, 'problem' in one.probed ? one.probed.problem : 'found, not chosen', `@${one.name}`, state))
  const all = [...offers, ...others]
  return all.length > 0 ? all : [{ device: { ...missingDevice('python', problem ?? 'no Python was found: install one, or name its path in the settings'), id: 'python:cpu', name: 'Python' } }]
}

/** The user's choice in the user's order, with what is missing in its place; the best one where there is no choice. */
function choose({ found, chosen }: Described): Found[] {
  if (!chosen || chosen.length === 0) {
    const best = bestOf(found)
    return best ? [best] : []
  }
  const picked = chosen.flatMap((path) => {
    const one = found.find((candidate) => candidate.path === path) ?? found.find((candidate) => identityOf(candidate.path) === identityOf(path) || ('probe' in candidate.probed && candidate.probed.probe.prefix === path))
    return one ? [one] : []
  })
  return [...new Set(picked)]
}
