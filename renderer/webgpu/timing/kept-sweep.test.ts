import { expect, it, vi } from 'vitest'
import { keptSweep, type HostSweeps } from './kept-sweep'

const rates = [{ bytes: 1024, rate: 3 }]
const kept = { measuredAt: '2026-01-02T03:04:05.000Z', rates }

function host(answer: Promise<unknown>): HostSweeps & { put: ReturnType<typeof vi.fn<HostSweeps['put']>> } {
  return { get: () => answer, put: vi.fn<HostSweeps['put']>() }
}

it('takes the sweep that was kept, and measures where there is none, a damaged one, or a new one is asked for', async () => {
  const measured = [{ bytes: 2048, rate: 4 }]
  const measure = vi.fn(() => Promise.resolve(measured))
  expect(await keptSweep('key', host(Promise.resolve(kept)), false, measure)).toEqual(kept)
  expect(measure).not.toHaveBeenCalled()
  for (const [answer, again] of [[Promise.resolve(undefined), false], [Promise.resolve({ rates: [] }), false], [Promise.reject(new Error('gone')), false], [Promise.resolve(kept), true]] as const) {
    const one = host(answer)
    expect(await keptSweep('key', one, again, measure)).toEqual({ rates: measured, measuredAt: undefined })
    expect(one.put).toHaveBeenCalledExactlyOnceWith('key', measured)
  }
  expect((await keptSweep('key', undefined, false, measure)).rates).toEqual(measured)
})

it('keeps no sweep without sizes', async () => {
  const one = host(Promise.resolve(undefined))
  await keptSweep('key', one, false, () => Promise.resolve([]))
  expect(one.put).not.toHaveBeenCalled()
})
