import { describe, expect, it } from 'vitest'
import { addSwitches, gpuSwitches, type CommandLine, type Machine } from './switches'

const linux: Machine = { platform: 'linux', env: {}, devices: [] }
const valueOf = (machine: Machine, name: string) => gpuSwitches(machine).find((entry) => entry.name === name)?.value
const has = (machine: Machine, name: string) => gpuSwitches(machine).some((entry) => entry.name === name)

function commandLine(initial: Record<string, string>): CommandLine & { values: Map<string, string> } {
  const values = new Map(Object.entries(initial))
  return { values, hasSwitch: (name) => values.has(name), getSwitchValue: (name) => values.get(name) ?? '', appendSwitch: (name, value = '') => void values.set(name, value) }
}

describe('gpuSwitches', () => {
  it('asks for exact timestamps everywhere', () => {
    for (const platform of ['linux', 'darwin', 'win32'] as const) expect(valueOf({ ...linux, platform }, 'disable-dawn-features')).toBe('timestamp_quantization')
  })

  it('takes the software adapter on Linux without a graphics device, and wherever it is asked for', () => {
    expect(valueOf(linux, 'use-webgpu-adapter')).toBe('swiftshader')
    expect(valueOf({ ...linux, platform: 'darwin', env: { OPSCOPE_WEBGPU: 'software' } }, 'use-webgpu-adapter')).toBe('swiftshader')
    expect(has({ ...linux, platform: 'darwin' }, 'use-webgpu-adapter')).toBe(false)
    expect(has({ ...linux, env: { OPSCOPE_WEBGPU: 'hardware' } }, 'use-webgpu-adapter')).toBe(false)
  })

  it('takes the real adapter where there is a device', () => {
    const desktop = { ...linux, devices: ['card0', 'renderD128'] }
    expect(has(desktop, 'use-webgpu-adapter')).toBe(false)
    expect(has(desktop, 'disable-vulkan-surface')).toBe(false)
    const server = { ...linux, devices: ['nvidiactl', 'nvidia0'] }
    expect(valueOf(server, 'use-angle')).toBe('vulkan')
    expect(has(server, 'disable-vulkan-surface')).toBe(true)
    // f16 on NVIDIA's cards alone.
    expect([server, { ...desktop, devices: [...desktop.devices, 'nvidia0'] }, desktop].map((machine) => valueOf(machine, 'enable-dawn-features'))).toEqual(['vulkan_enable_f16_on_nvidia', 'vulkan_enable_f16_on_nvidia', undefined])
  })
})

describe('addSwitches', () => {
  it('leaves what the command line says and joins lists', () => {
    const line = commandLine({ 'use-angle': 'gl', 'enable-features': 'Other' })
    addSwitches(line, gpuSwitches(linux))
    expect(line.values.get('use-angle')).toBe('gl')
    expect(line.values.get('enable-features')).toBe('Other,Vulkan')
    addSwitches(line, gpuSwitches(linux))
    expect(line.values.get('enable-features')).toBe('Other,Vulkan')
  })
})
