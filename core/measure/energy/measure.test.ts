import { expect, it } from 'vitest'
import type { PreparedCase } from '../../backend'
import { measureEnergy } from './measure'

const asked = (energyMeter?: PreparedCase['energyMeter']) =>
  measureEnergy({ prepared: { ...(energyMeter ? { energyMeter } : {}) } as PreparedCase, callNs: 1000, idle: new Map(), device: 'cpu/cpu', now: () => 0, onBatch: () => undefined })

it('gives the reason where no energy counter can be read', async () => {
  expect(await asked()).toEqual({ reason: 'This backend cannot read an energy counter.' })
  expect(await asked(() => ({ reason: 'There is none.' }))).toEqual({ reason: 'There is none.' })
})
