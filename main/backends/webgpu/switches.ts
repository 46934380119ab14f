import { readdirSync } from 'node:fs'

/** The part of Electron's `app.commandLine` used here. */
export interface CommandLine {
  hasSwitch(name: string): boolean
  getSwitchValue(name: string): string
  appendSwitch(name: string, value?: string): void
}

/** What decides about switches besides the command line. */
export interface Machine {
  platform: NodeJS.Platform
  env: Readonly<Record<string, string | undefined>>
  /** Names in /dev, and in /dev/dri where there is one. */
  devices: readonly string[]
}

export interface Switch {
  name: string
  value?: string
}

/** Exact timestamps, the adapter's own description, and WebGPU where Chromium still asks for consent. */
const ALWAYS: readonly Switch[] = [
  { name: 'disable-dawn-features', value: 'timestamp_quantization' },
  { name: 'enable-unsafe-webgpu' },
  { name: 'enable-webgpu-developer-features' },
]

/** SwiftShader: WebGPU computed on the CPU. */
const SOFTWARE: readonly Switch[] = [
  { name: 'enable-features', value: 'Vulkan' },
  { name: 'use-vulkan', value: 'swiftshader' },
  { name: 'use-angle', value: 'swiftshader' },
  { name: 'use-webgpu-adapter', value: 'swiftshader' },
  { name: 'ignore-gpu-blocklist' },
]

/** Chromium reaches WebGPU through Vulkan on Linux. */
const LINUX: readonly Switch[] = [{ name: 'enable-features', value: 'Vulkan' }, { name: 'use-angle', value: 'vulkan' }, { name: 'ignore-gpu-blocklist' }]

/** A compute card without a display: nothing can be presented, and the driver's files lie outside Chromium's GPU sandbox. */
const NO_DISPLAY_CARD: readonly Switch[] = [{ name: 'disable-vulkan-surface' }, { name: 'disable-gpu-sandbox' }]

/** Chromium keeps f16 in shaders back from NVIDIA's cards under Vulkan, because some of its own tests of it fail there. Every result here is compared with its reference. */
const NVIDIA: readonly Switch[] = [{ name: 'enable-dawn-features', value: 'vulkan_enable_f16_on_nvidia' }]

/**
 * Switches this machine needs. OPSCOPE_WEBGPU=software asks for the software adapter, OPSCOPE_WEBGPU=hardware for none
 * but a real one; otherwise Linux without a graphics device gets the software adapter.
 */
export function gpuSwitches({ platform, env, devices }: Machine): readonly Switch[] {
  const wish = env['OPSCOPE_WEBGPU']
  const nvidia = devices.some((name) => /^nvidia\d+$/.test(name))
  const renders = devices.some((name) => /^renderD\d+$/.test(name) || name === 'dxg')
  if (wish === 'software' || (platform === 'linux' && wish !== 'hardware' && !nvidia && !renders)) return [...ALWAYS, ...SOFTWARE]
  if (platform !== 'linux') return ALWAYS
  return [...ALWAYS, ...LINUX, ...(nvidia ? NVIDIA : []), ...(nvidia && !renders ? NO_DISPLAY_CARD : [])]
}

/** Switches whose value is a list, to which ours are added. */
const LISTS: ReadonlySet<string> = new Set(['enable-features', 'enable-dawn-features', 'disable-dawn-features'])

/** Adds switches to a command line. One that is there already stays as it is; lists are joined. */
export function addSwitches(commandLine: CommandLine, switches: readonly Switch[]): void {
  for (const { name, value } of switches) {
    if (!commandLine.hasSwitch(name)) commandLine.appendSwitch(name, value)
    else if (value !== undefined && LISTS.has(name)) {
      const there = commandLine.getSwitchValue(name).split(',').filter(Boolean)
      if (!there.includes(value)) commandLine.appendSwitch(name, [...there, value].join(','))
    }
  }
}

function deviceFiles(): string[] {
  return ['/dev', '/dev/dri'].flatMap((folder) => {
    try {
      return readdirSync(folder)
    } catch {
      return []
    }
  })
}

/** Switches the app starts Chromium with on this machine. */
export const switchesHere = (): readonly Switch[] => gpuSwitches({ platform: process.platform, env: process.env, devices: deviceFiles() })

/** Prepares Chromium's GPU process. Must be called before Electron is ready. */
export function appendGpuSwitches(app: { commandLine: CommandLine; disableDomainBlockingFor3DAPIs(): void }): void {
  addSwitches(app.commandLine, switchesHere())
  // A case that crashes the GPU process must not take WebGPU away from the cases after it.
  app.disableDomainBlockingFor3DAPIs()
}

/** Argument that makes Electron measure WebGPU for a command line instead of showing the app. */
export const HOST_FLAG = '--opscope-webgpu-host'

/** Whether this process was started to measure for a command line. */
export const isWebgpuHost = (argv: readonly string[] = process.argv): boolean => argv.includes(HOST_FLAG)
