import type { Device } from '@core/backend'
import type { BenchmarkCase } from '@core/case'
import type { Result } from '@core/result'
import type { Host } from './host'

/** Losses one after the other, with new processes between, after which a device is not tried again: a few sizes of one bad kernel are not its end. */
const MAX_LOSSES = 5

/** The words in which a device went. */
export interface Loss {
  message: string
  detail?: string
}

const keyOf = ({ backend, device }: BenchmarkCase) => `${backend} ${device}`

/**
 * Devices that vanish during a run. A case that crashed its kernel or lost its device leaves a process whose device can
 * not be used any more, so the process is replaced. A device that the new process does not have, or that is lost time
 * after time, is given up: its other cases fail with the driver's words instead of each waiting for a dead device.
 */
export class LostDevices {
  readonly #losses = new Map<string, number>()
  readonly #gone = new Map<string, Loss>()

  /** Why a case is not to be tried; undefined while its device is there. */
  lossOf(c: BenchmarkCase): Loss | undefined {
    return this.#gone.get(keyOf(c))
  }

  /** Looks after the device of a case that has ended on this host. */
  async after(result: Result, host: Host): Promise<void> {
    const { case: c, errorCode } = result
    const key = keyOf(c)
    if (errorCode !== 'device-lost' && errorCode !== 'kernel-failed') {
      if (result.status === 'ok') this.#losses.delete(key)
      return
    }
    await host.recycle()
    if (errorCode === 'kernel-failed') return
    const losses = (this.#losses.get(key) ?? 0) + 1
    this.#losses.set(key, losses)
    if (losses >= MAX_LOSSES || !(await isBack(c, host))) this.#gone.set(key, { message: result.message ?? 'the device was lost', ...(result.detail ? { detail: result.detail } : {}) })
  }
}

async function isBack(c: BenchmarkCase, host: Host): Promise<boolean> {
  const devices: Device[] = await host.devices().catch(() => [])
  return devices.some(({ backend, id, available }) => backend === c.backend && id === c.device && available.ok)
}
