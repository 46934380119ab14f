import { readFileSync } from 'node:fs'
import { arch, availableParallelism, cpus, hostname, release, totalmem, type, version as osVersion } from 'node:os'
import type { Device } from '@core/backend'
import type { Environment } from '@core/session/types'
import { version } from '../../package.json'
import { parseCpuInfo, parseOsRelease } from './os-name'

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
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

/** Facts about this machine and program, as a session keeps them; `devices` are those the session is about. */
export function readEnvironment(devices: readonly Device[]): Environment {
  const { electron, chrome, node } = process.versions
  return {
    appVersion: version,
    host: hostname(),
    os: osName(),
    kernel: `${type()} ${release()} ${arch()}`,
    cpu: cpuName(),
    logicalCpus: availableParallelism(),
    memoryBytes: memoryBytes(),
    node,
    ...(electron === undefined ? {} : { electron }),
    ...(chrome === undefined ? {} : { chromium: chrome }),
    devices: [...devices],
  }
}
