import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { z } from 'zod'
import { deviceSchema, type Device } from '@core/backend'
import type { HostLink, ToHost } from '@core/measure/protocol'
import { takeLock } from '../../scripts/lib/system-lock.mjs'

/** What is locked while a case is measured, so that two programs of this machine never measure on one device at once. */

/** How often the runner hears of a case that waits for its device, in ms. */
const WAITING_MS = 3000

/** The id that this link gives its own question for devices; those of the runner are positive. */
const OWN_QUESTION = -1

const factOf = ({ facts }: Device, name: string) => facts.find((fact) => fact.name === name)?.value

/** The GPU that a device is, the same of every backend that computes on it: its UUID, else its PCI bus id. Undefined for what is no GPU, or cannot tell. */
export const gpuOf = (device: Device): string | undefined => (factOf(device, 'UUID') ?? factOf(device, 'PCI bus id'))?.toLowerCase()

/**
 * Name of the lock of a device: the UUID of a GPU, else its PCI bus id, `cpu` for whatever computes on the processor.
 * Undefined where neither is known, as of a GPU that only a page sees, and of scripted devices.
 */
export function lockNameOf(device: Device): string | undefined {
  const gpu = gpuOf(device)
  if (gpu !== undefined) return gpu
  const on = device.sameHardwareAs?.backend ?? device.backend
  return on === 'cpu' || (device.software && device.backend === 'webgpu') ? 'cpu' : factOf(device, 'Lock')
}

/** Holds the lock of this name, of all users of the machine. `onWait`: who has it. Rejects when `signal` aborts first. */
export const holdDevice = (name: string, onWait?: (owner: string) => void, signal?: AbortSignal): Promise<() => Promise<void>> =>
  // On Linux and Windows a name that is never made as a file; elsewhere a file that users share only where they share the folder.
  takeLock(process.platform === 'linux' || process.platform === 'win32' ? `/opscope-device-${name}` : join(tmpdir(), `opscope-device-${name.replaceAll(/[^\w.-]/g, '_')}`), onWait, signal)

type Measure = Extract<ToHost, { type: 'measure' }>

/** Enough of a host's message to see what it ends; the runner parses all of it. */
const headSchema = z.object({ type: z.string(), id: z.number().int().optional() })
const devicesSchema = z.object({ devices: z.array(deviceSchema) })

/** Makes links of one kind of host hold the lock of a case's device while they measure it. */
export function exclusiveLinks(): (link: HostLink) => HostLink {
  /** By backend and device; kept from one process of the host to the next. Undefined until the devices are known. */
  const known: { locks?: Map<string, string | undefined> } = {}
  return (link) => exclusive(link, known)
}

function exclusive(link: HostLink, known: { locks?: Map<string, string | undefined> }): HostLink {
  let hear: (message: unknown) => void = () => undefined
  /** Cases that wait until the devices are known. */
  const unasked: Measure[] = []
  const waiting = new Map<number, AbortController>()
  const held = new Map<number, () => Promise<void>>()
  let gone = false

  const letGo = (id: number) => {
    const release = held.get(id)
    held.delete(id)
    void release?.()
  }

  async function measure(request: Measure): Promise<void> {
    const { id, case: c } = request
    const name = known.locks?.get(`${c.backend} ${c.device}`)
    if (name === undefined) return link.send(request)
    const controller = new AbortController()
    waiting.set(id, controller)
    const tell = () => hear({ type: 'progress', id, phase: 'waiting', samples: 0 })
    let telling: NodeJS.Timeout | undefined
    const onWait = () => {
      if (telling) return
      tell()
      telling = setInterval(tell, WAITING_MS)
    }
    try {
      const release = await holdDevice(name, onWait, controller.signal)
      if (gone || controller.signal.aborted) {
        void release()
        throw new Error('the case was cancelled')
      }
      held.set(id, release)
      link.send(request)
    } catch (error) {
      if (gone) return
      hear(controller.signal.aborted ? { type: 'cancelled', id } : { type: 'error', id, message: `the device could not be locked: ${error instanceof Error ? error.message : String(error)}` })
    } finally {
      clearInterval(telling)
      waiting.delete(id)
    }
  }

  link.onMessage((raw) => {
    const { type, id } = headSchema.safeParse(raw).data ?? {}
    if (type === 'devices') {
      const said = devicesSchema.safeParse(raw)
      if (said.success) known.locks = new Map(said.data.devices.map((device) => [`${device.backend} ${device.id}`, lockNameOf(device)]))
    }
    if (id === OWN_QUESTION) {
      for (const request of unasked.splice(0)) void measure(request)
      return
    }
    if (id !== undefined && (type === 'result' || type === 'cancelled' || type === 'error')) letGo(id)
    hear(raw)
  })

  return {
    send(message) {
      if (message.type === 'measure') {
        if (known.locks) void measure(message)
        else {
          unasked.push(message)
          if (unasked.length === 1) link.send({ type: 'devices', id: OWN_QUESTION })
        }
      } else if (message.type === 'cancel' && waiting.has(message.id)) waiting.get(message.id)!.abort()
      else link.send(message)
    },
    onMessage: (listener) => (hear = listener),
    onExit: (listener) =>
      link.onExit((reason) => {
        gone = true
        for (const controller of waiting.values()) controller.abort()
        for (const id of [...held.keys()]) letGo(id)
        listener(reason)
      }),
    kill: () => link.kill(),
  }
}
