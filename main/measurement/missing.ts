import { CaseError, type Backend, type Device } from '@core/backend'
import { findBackend } from '@core/backends'

/** A backend that this process cannot offer: one unavailable device, and every case unsupported, with the reason. */
export const missingBackend = (id: string, reason: string): Backend => ({
  id,
  devices: () => Promise.resolve([missingDevice(id, reason)]),
  open: () => Promise.reject(new CaseError('unsupported', reason)),
})

/** The stand-in for the devices of a backend that cannot be had; `reason` says why and what would help. */
export function missingDevice(backend: string, reason: string): Device {
  return {
    backend,
    id: findBackend(backend)?.device ?? `${backend}:0`,
    name: backend,
    available: { ok: false, reason },
    impls: [],
    modes: [],
    threads: [],
    memoryBytes: 0,
    software: false,
    facts: [],
    warnings: [],
  }
}
