import { expect, it } from 'vitest'
import type { Device } from '../backend'
import type { SweepSpec } from '../session/sweep-spec'
import { presentSweep } from './present'

const impl = (id: string, ok = true) => ({ id, title: id.toUpperCase(), kernels: {}, preferred: ok, available: ok ? { ok: true as const } : { ok: false as const, reason: 'needs AVX-512' } })
const device = (backend: string, id: string, part: Partial<Device> = {}): Device => ({ backend, id, name: `${backend} device`, kind: 'cpu', available: { ok: true }, impls: [impl('avx2'), impl('avx512', false)], threads: [1, 4], modes: ['hot'], memoryBytes: 2 ** 30, warnings: [], ...part }) as Device
const spec: SweepSpec = {
  ops: [{ op: 'add' }], sizes: {}, dtypes: ['f32'], modes: ['hot'], preset: 'quick',
  targets: [{ backend: 'cpu', device: 'cpu', impls: ['avx2', 'avx512', 'avx9'], threads: [1, 64] }, { backend: 'cuda', device: 'cuda:0', impls: ['kernel'] }, { backend: 'cuda', device: 'cuda:1', impls: ['kernel'] }],
}

it('keeps what this machine has, and says what it lacks', () => {
  const here = presentSweep(spec, [device('cpu', 'cpu'), device('cuda', 'cuda:1', { available: { ok: false, reason: 'no driver' } })])
  expect(here.spec).toEqual({ ...spec, targets: [{ backend: 'cpu', device: 'cpu', impls: ['avx2'], threads: [1] }] })
  expect(here.missing).toEqual(['AVX512 on cpu device: needs AVX-512', 'cpu device has no implementation avx9', 'there is no device cuda:0 here', 'cuda device: no driver'])
})

it('leaves the thread counts to the device where it has none of those saved', () => {
  expect(presentSweep(spec, [device('cpu', 'cpu', { threads: [2] })]).spec.targets).toEqual([{ backend: 'cpu', device: 'cpu', impls: ['avx2'] }])
})
