import { arch, availableParallelism, cpus, hostname, release, totalmem, type, version as osVersion } from 'node:os'
import type { Device } from '@core/backend'
import { findBackend } from '@core/backends'
import type { Environment, NoiseFloor } from '@core/session/types'
import { version } from '../../package.json'
import { switchesHere } from '../backends/webgpu/switches'
import { namesIn, parseCpuInfo, parseOsRelease, readCaches, readText } from './system'
import { join } from 'node:path'

/** The governors of all processors in one word or list; undefined where there are none (virtual machines). */
export function governorOf(texts: readonly string[]): string | undefined {
  const governors = [...new Set(texts.map((text) => text.trim()).filter(Boolean))].sort()
  return governors.length > 0 ? governors.join(', ') : undefined
}

/** Whether clocks above the base are allowed: from intel_pstate/no_turbo or cpufreq/boost, whichever the system has. */
export function boostOf({ noTurbo, boost }: { noTurbo: string; boost: string }): boolean | undefined {
  const flag = (text: string) => (/^[01]$/.test(text.trim()) ? text.trim() === '1' : undefined)
  const off = flag(noTurbo)
  return off === undefined ? flag(boost) : !off
}

/** One entry of /sys/class/power_supply: `Mains`, `USB` or `Battery`, and what it says of itself. */
export interface Supply {
  type: string
  /** `1` where it delivers; mains and USB only. */
  online: string
  /** `Discharging` and like; batteries only. */
  status: string
  /** `Device` for the battery of a mouse. */
  scope: string
}

/** `mains` or `battery`; undefined where the machine has neither, as a server does. */
export function powerSourceOf(supplies: readonly Supply[]): string | undefined {
  const own = supplies.filter((supply) => supply.scope.trim() !== 'Device')
  const is = (text: string, value: string) => text.trim() === value
  if (own.some((supply) => !is(supply.type, 'Battery') && is(supply.online, '1'))) return 'mains'
  const batteries = own.filter((supply) => is(supply.type, 'Battery'))
  if (batteries.some((battery) => is(battery.status, 'Discharging'))) return 'battery'
  return batteries.length > 0 ? 'mains' : undefined
}

const CPUS = '/sys/devices/system/cpu'
const SUPPLIES = '/sys/class/power_supply'

/** How this machine is clocked and fed, as far as Linux tells. */
export function readPower(): { governor?: string; boost?: boolean; powerSource?: string } {
  const governor = governorOf(namesIn(CPUS, /^cpu\d+$/).map((cpu) => readText(join(CPUS, cpu, 'cpufreq/scaling_governor'))))
  const boost = boostOf({ noTurbo: readText(join(CPUS, 'intel_pstate/no_turbo')), boost: readText(join(CPUS, 'cpufreq/boost')) })
  const powerSource = powerSourceOf(
    namesIn(SUPPLIES, /./).map((name) => {
      const read = (field: string) => readText(join(SUPPLIES, name, field))
      return { type: read('type'), online: read('online'), status: read('status'), scope: read('scope') }
    }),
  )
  return { ...(governor === undefined ? {} : { governor }), ...(boost === undefined ? {} : { boost }), ...(powerSource === undefined ? {} : { powerSource }) }
}

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

/** Variables that change what is measured: which GPUs and how CUDA runs, threads, memory allocation, our own switches. */
const MEASURING = /^(CUDA|CUBLAS|CUDNN|NVIDIA|OPSCOPE|OMP|KMP|GOMP|MKL|OPENBLAS|MALLOC)_|^GLIBC_TUNABLES$/
/** Ours that say where things are or what tests do, not how cases are measured. */
const NOT_MEASURING = /^OPSCOPE_(DATA_DIR|ELECTRON|ELECTRON_MISSING|COMMIT|ADDON|GUEST|SETUP|GPU_HOLDERS|SERVES|PYTHON|PYTHON_ONLY|CUDA|TEST_.*)$/
const SECRET = /TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY/i
/** Longer values are no switch anybody set by hand. */
const MAX_CHARACTERS = 200

/** No path leaves this machine with a session: it would name its user. */
const isPath = (value: string) => /[/\\]/.test(value)

/** `NAME=value` of the variables that change what is measured, by name. */
export function measuringVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env)
    .flatMap(([name, value]) => (value && value.length <= MAX_CHARACTERS && MEASURING.test(name) && !NOT_MEASURING.test(name) && !SECRET.test(name) && !isPath(value) ? [`${name}=${value}`] : []))
    .sort()
}

/** A switch as it stands on a command line: `--enable-unsafe-webgpu`, `--use-angle=vulkan`. */
const switchText = ({ name, value }: { name: string; value?: string | undefined }): string => (value === undefined || value === '' ? `--${name}` : `--${name}=${value}`)

/** Chromium switches that change how a GPU is reached, told from those of windows, logs and debuggers. */
const GRAPHICS = /gpu|dawn|webgpu|vulkan|angle|^use-gl|^(enable|disable)-features$|^(enable|disable)-blink-features$|^js-flags$|frame-rate|vsync|background/

/** The switches of a start's command line that change how WebGPU runs. Values that are paths are left out with their switch. */
export function graphicsSwitches(argv: readonly string[]): string[] {
  return argv.flatMap((argument) => {
    const [, name, value] = /^--([a-z0-9-]+)(?:=(.*))?$/.exec(argument) ?? []
    return name !== undefined && GRAPHICS.test(name) && !isPath(value ?? '') ? [switchText({ name, value })] : []
  })
}
