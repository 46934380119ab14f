import type { Device } from '../backend'
import { isLibrary } from '../backends'

/** The hardware behind a device's id, whoever computes on it: `python:cuda:0@torch2` computes on `cuda:0`. */
export const hardwareOf = (device: string): string => {
  const [first = '', ...rest] = device.replace(/@.*$/, '').split(':')
  return isLibrary(first) ? rest.join(':') : [first, ...rest].join(':')
}

/** What kind of processor a device is. Everything that is not the processor of the machine is a GPU. */
export const processorOf = (device: string): 'cpu' | 'gpu' => (hardwareOf(device) === 'cpu' ? 'cpu' : 'gpu')

/** Devices without those that are the hardware of another one among them: what is wrong with hardware is said once. */
export const withoutRepeats = <D extends Pick<Device, 'id' | 'sameHardwareAs'>>(devices: readonly D[]): D[] => {
  const said = new Set<string>()
  return [...devices].sort((a, b) => Number(a.sameHardwareAs !== undefined) - Number(b.sameHardwareAs !== undefined)).filter((device) => {
    const hardware = device.sameHardwareAs?.id ?? device.id
    const first = !said.has(hardware)
    said.add(hardware)
    return first
  })
}
