import { problemOf } from '@core/backend'
import { getOp } from '@core/ops/registry'
import { expect, it } from 'vitest'
import { testDevice } from '@core/testing'
import type { NativeAddon, NativeSpec } from './addon'
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

it('offers composite operations where an implementation joins the kernels of their parts, and opens them with what each part reads and writes', async () => {
  const block = getOp('transformer_block')
  const params = { batch: 1, seq: 3, dim: 4, heads: 2 }
  const kernels = { layer_norm: ['f32', 'f16'], matmul: ['f32', 'f16'], add_residual: ['f32'], add_gelu: ['f32'], scaled_dot_product_attention: ['f32'], copy_view: ['f32'] }
  const impl = { title: 'Kernels', available: { ok: true }, preferred: false, kernels }
  const specs: NativeSpec[] = []
  class Case {
    constructor(spec: NativeSpec) {
      specs.push(spec)
    }
    timer = () => 'steady-clock'
    tickNs = () => 1
    notes = () => []
  }
  const addon = { Case, devices: () => [{ ...testDevice(), impls: [{ ...impl, id: 'kernel', joins: true }, { ...impl, id: 'library' }] }] }
  const backend = new NativeBackend(addon as unknown as NativeAddon, 'cpu')
  const [device] = await backend.devices()
  expect(device!.impls.map(({ id, kernels: offered, ...rest }) => [id, offered['transformer_block'], 'joins' in rest])).toEqual([['kernel', ['f32'], false], ['library', undefined, false]])

  await backend.open(problemOf(block, { op: block.id, params, dtype: 'f32', backend: 'cpu', impl: 'kernel', device: 'cpu', mode: 'hot' }, 1))
  const { parts = [], scratchBytes = [], tensors } = specs[0]!
  expect(parts.map(({ name, op }) => `${name} ${op}`).slice(2, 5)).toEqual(['qkv_bias copy_view', 'attention scaled_dot_product_attention', 'proj copy_view'])
  expect(parts[0]!.tensors.map(({ name, role, buffer }) => [name, role, buffer])).toEqual([['x', 'in', 0], ['weight', 'in', 9], ['bias', 'in', 10], ['out', 'out', tensors.length]])
  expect(parts.at(-1)!.tensors.at(-1)!.buffer).toBe(tensors.findIndex(({ role }) => role === 'out'))
  expect(Math.max(...parts.flatMap((part) => part.tensors.map(({ buffer }) => buffer)))).toBe(tensors.length + scratchBytes.length - 1)
})

it('says of a case of the processor whether it may be on the quietest one, and of none of a GPU', async () => {
  const asked: boolean[] = []
  const addon = { ...addonOf(0), setQuietest: (quietest: boolean) => void asked.push(quietest) } as NativeAddon
  for (const one of [problem, { ...problem, quietest: true }, { ...problem, quietest: false }]) {
    await new NativeBackend(addon, 'cuda').open(one)
    await new NativeBackend(addon, 'cpu').open({ ...one, case: { ...problem.case, backend: 'cpu', device: 'cpu' } })
  }
  expect(asked).toEqual([false, true, false])
})
