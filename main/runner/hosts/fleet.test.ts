import { describe, expect, it } from 'vitest'
import type { Device } from '@core/backend'
import { withTwins } from './fleet'

const device = (change: Partial<Device>): Device => ({ backend: 'cuda', id: 'cuda:0', name: 'NVIDIA H200', available: { ok: true }, impls: [], modes: ['hot'], threads: [], memoryBytes: 1, software: false, facts: [], warnings: [], ...change })
const busy = device({ disturbances: ['Process 7 (blender) uses this GPU.'] })
const page = device({ backend: 'webgpu', id: 'webgpu:0' })

describe('withTwins', () => {
  it('tells of a card that a page measures what the other backend knows of it', () => {
    expect(withTwins([busy, page])[1]).toEqual({ ...page, disturbances: busy.disturbances })
    expect(withTwins([page], [busy, page])[0]?.disturbances).toEqual(busy.disturbances)
    const python = device({ ...busy, backend: 'python', id: 'python:cuda:0', sameHardwareAs: { backend: 'cuda', id: 'cuda:0', name: busy.name } })
    expect(withTwins([busy, page, python])[1]?.disturbances).toEqual(busy.disturbances)
  })

  it('plans with what is free of its memory, which a page cannot see', () => {
    const full = device({ memoryBytes: 2e9 })
    expect(withTwins([full, { ...page, memoryBytes: 8e9 }])[1]?.memoryBytes).toBe(2e9)
    expect(withTwins([full, { ...page, memoryBytes: 1e9 }])[1]?.memoryBytes).toBe(1e9)
  })

  it('mixes up neither two cards of one name nor cards of different names', () => {
    expect(withTwins([busy, device({ id: 'cuda:1' }), page])[2]).toBe(page)
    const other = { ...page, name: 'AMD Radeon' }
    expect(withTwins([busy, other])[1]).toBe(other)
  })

  it('leaves what a device says of itself, and adds nothing to one that cannot be used', () => {
    const own = { ...page, disturbances: [] }
    expect(withTwins([busy, own])[1]).toBe(own)
    const missing = { ...page, available: { ok: false as const, reason: 'no adapter' } }
    expect(withTwins([busy, missing])[1]).toBe(missing)
  })
})
