import { problemOf } from '@core/backend'
import { getOp } from '@core/ops/registry'
import { expect, it } from 'vitest'
import type { NativeAddon } from './addon'
import { NativeBackend } from './backend'

const problem = problemOf(getOp('add'), { op: 'add', params: { n: 10 }, dtype: 'f32', backend: 'cuda', impl: 'kernel', device: 'cuda:0', mode: 'hot' }, 1)

/** An addon whose cases take so many attempts to open, and then fail with this code where there is one. */
function addonOf(attempts: number, code?: string): NativeAddon {
  let left = attempts
  class Case {
    constructor() {
      if (left-- > 0) throw Object.assign(new Error('NVRTC is compiling the kernels of add.'), { code: 'compiling' })
      if (code !== undefined) throw Object.assign(new Error('It failed.'), { code })
    }
    timer = () => 'cuda-event'
    tickNs = () => 1
    notes = () => []
  }
  return { Case } as unknown as NativeAddon
}

it('opens a case again while its kernels are compiled, and says meanwhile that it is alive', async () => {
  let told = 0
  const prepared = await new NativeBackend(addonOf(3), 'cuda').open(problem, () => void told++)
  expect(prepared.timer).toBe('cuda-event')
  expect(told).toBe(3)
})

it('ends with what went wrong afterwards', async () => {
  await expect(new NativeBackend(addonOf(1, 'unsupported'), 'cuda').open(problem)).rejects.toMatchObject({ code: 'unsupported', message: 'It failed.' })
})

it('waits for kernels that a call on an open case needs first, such as those of the guard bands', async () => {
  const compiling = () => Object.assign(new Error('NVRTC is compiling scan_16 of service.'), { code: 'compiling' })
  const attempts: Record<string, number> = {}
  /** Every method throws twice before it answers. */
  const later = (name: string, answer: unknown) => () => {
    attempts[name] = (attempts[name] ?? 0) + 1
    if (attempts[name] <= 2) throw compiling()
    return answer
  }
  const scans = [{ unwritten: 0, nonFinite: 0 }]
  class Case {
    timer = () => 'cuda-event'
    tickNs = () => 1
    notes = () => []
    refill = later('refill', undefined)
    poison = later('poison', undefined)
    run = later('run', undefined)
    scan = later('scan', scans)
    sample = later('sample', { ns: [1], state: {} })
  }
  const prepared = await new NativeBackend({ Case } as unknown as NativeAddon, 'cuda').open(problem)
  await prepared.refill(2)
  await prepared.poison()
  await prepared.run()
  expect(await prepared.scan()).toEqual(scans)
  expect(await prepared.sample({ mode: 'cold', count: 1, inner: 1 })).toMatchObject({ ns: [1] })
  expect(attempts).toEqual({ refill: 3, poison: 3, run: 3, scan: 3, sample: 3 })
})
