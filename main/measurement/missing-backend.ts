import { CaseError, type Backend } from '@core/backend'
import { missingDevice } from '../runner/missing-device'

/** A backend that this process cannot offer: one unavailable device, and every case unsupported, with the reason. */
export const missingBackend = (id: string, reason: string): Backend => ({
  id,
  devices: () => Promise.resolve([missingDevice(id, reason)]),
  open: () => Promise.reject(new CaseError('unsupported', reason)),
})
