import { findBackend } from '@core/backends'
import { arch, availableParallelism, cpus, hostname, release, totalmem, type, version as osVersion } from 'node:os'
import type { Device } from '@core/backend'
import type { Environment, NoiseFloor } from '@core/session/types'
import { version } from '../../package.json'
import { switchesHere } from '../backends/webgpu/switches'
import { readCaches } from './caches'
import { parseCpuInfo, parseOsRelease } from './os-name'
import { readPower } from './power'
import { graphicsSwitches, measuringVariables, switchText } from './switches'
import { readText } from './system-files'

const osName = () => (process.platform === 'linux' ? parseOsRelease(readText('/etc/os-release')) : undefined) ?? osVersion()

/** `os.cpus()` says "unknown" on some Arm systems; the kernel's own listing may still know. */
function cpuName(): string {
  const model = cpus()[0]?.model.trim().replace(/\s+/g, ' ')
  if (model && model !== 'unknown') return model
  return parseCpuInfo(readText('/proc/cpuinfo')) ?? `unnamed ${arch()} processor`
}

/** Memory this process may use: the machine's, or less inside a container with a limit. */
function memoryBytes(): number {
  const machine = totalmem()
  const limit = process.constrainedMemory()
  return limit > 0 && limit < machine ? limit : machine
}

/** What changes how these devices measure: variables for all, Chromium's switches where one of them is reached through it. */
function switches(devices: readonly Device[]): string[] {
  const chromium = devices.some((device) => findBackend(device.backend)?.host === 'webgpu') ? [...switchesHere().map(switchText), ...graphicsSwitches(process.argv.slice(1))] : []
  return [...new Set([...chromium, ...measuringVariables(process.env)])]
}

/** The Chromium that measures: this program's, or for the command line the one that WebGPU's devices say they run in. */
const chromiumOf = (devices: readonly Device[]): string | undefined =>
  process.versions.chrome ?? devices.flatMap((device) => device.facts.flatMap((fact) => /^Chrome\/([\d.]+)$/.exec(fact.value)?.[1] ?? []))[0]

/** What only part of the program knows of the machine. */
export interface EnvironmentContext {
  /** Self-checks so far; those of the devices go into the record. */
  noiseFloors?: readonly NoiseFloor[]
}

/** Set by the build (electron.vite.config.ts); tests and benches run the sources as they are. */
declare const __OPSCOPE_CODE__: string | undefined
const code = typeof __OPSCOPE_CODE__ === 'undefined' ? undefined : __OPSCOPE_CODE__

let askPowerSource: (() => string | undefined) | undefined

/** Where the system files do not tell what feeds the machine (macOS, Windows), the app asks Electron: `mains` or `battery`. */
export function tellPowerSource(ask: () => string | undefined): void {
  askPowerSource = ask
}

/** Facts about this machine and program, as a session keeps them; `devices` are those the session is about. */
export function readEnvironment(devices: readonly Device[], { noiseFloors = [] }: EnvironmentContext = {}): Environment {
  const { electron, node } = process.versions
  const chromium = chromiumOf(devices)
  const caches = readCaches()
  const power = readPower()
  const powerSource = power.powerSource ?? askPowerSource?.()
  const floors = noiseFloors.filter((floor) => devices.some((d) => d.backend === floor.backend && d.id === floor.device && d.name === floor.deviceName && d.driver === floor.driver))
  return {
    appVersion: version,
    ...(code === undefined ? {} : { code }),
    host: hostname(),
    os: osName(),
    kernel: `${type()} ${release()} ${arch()}`,
    cpu: cpuName(),
    logicalCpus: availableParallelism(),
    memoryBytes: memoryBytes(),
    node,
    ...(electron === undefined ? {} : { electron }),
    ...(chromium === undefined ? {} : { chromium }),
    ...(caches ? { caches } : {}),
    ...power,
    ...(powerSource === undefined ? {} : { powerSource }),
    switches: switches(devices),
    noiseFloors: floors,
    devices: [...devices],
  }
}
