/** The hardware behind a device's id, whoever computes on it: `python:cuda:0@torch2` computes on `cuda:0`. */
export const hardwareOf = (device: string): string => device.replace(/^python:/, '').replace(/@.*$/, '')

/** What kind of processor a device is. Everything that is not the processor of the machine is a GPU. */
export const processorOf = (device: string): 'cpu' | 'gpu' => (hardwareOf(device) === 'cpu' ? 'cpu' : 'gpu')
