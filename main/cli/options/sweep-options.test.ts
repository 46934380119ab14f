import { expect, test } from 'vitest'
import type { Device, Impl } from '@core/backend'
import { OPS } from '@core/ops/registry'
import { aDevice } from '../../runner/testing'
import { readPicks, specOf, type SweepOptions } from './sweep-options'
import { UsageError } from './choices'

const impl = (id: string, ok: boolean, preferred = false): Impl => ({ id, title: id, available: ok ? { ok } : { ok, reason: 'not on this machine' }, kernels: { add: ['f32'] }, preferred })
const cpu: Device = { ...aDevice('cpu'), threads: [1, 2, 8], impls: [impl('scalar', true), impl('avx2', true, true), impl('avx512', false)], modes: ['hot', 'cold'] }
const cuda: Device = { ...aDevice('cuda'), id: 'cuda:0', available: { ok: false, reason: 'no driver' } }

const spec = (options: SweepOptions) => {
  const picks = readPicks(options, ['cpu', 'cuda', 'webgpu'])
  return specOf(picks, options, [cpu, cuda])
}

test('without options one op of each family that has a kernel runs on the preferred implementation with all threads, and a missing device is told', () => {
  const { spec: made, missing } = spec({})
  expect(made.ops).toEqual([{ op: 'add' }])
  expect(spec({ ops: 'all' }).spec.ops.length).toBe(OPS.length)
  expect(made.targets).toEqual([{ backend: 'cpu', device: 'cpu', impls: ['avx2'], threads: [8] }])
  expect(made).toMatchObject({ modes: ['cold', 'hot'], dtypes: ['f32'], preset: 'standard' })
  expect(missing).toEqual(['cuda: no driver'])
})

test('all implementations are those the machine has; one that is named stays, so that its absence is told', () => {
  expect(spec({ impls: 'all', threads: '1,max' }).spec.targets).toEqual([{ backend: 'cpu', device: 'cpu', impls: ['scalar', 'avx2'], threads: [1, 8] }])
  expect(spec({ impls: 'avx512' }).spec.targets[0]?.impls).toEqual(['avx512'])
  expect(() => spec({ threads: '3' })).toThrow('unknown thread count "3". Choose from: 1, 2, 8, max.')
})

test('sizes are a preset, one text for what the ops need, or a text for each kind', () => {
  expect(spec({ ops: 'softmax', sizes: '4096x1024' }).spec.sizes).toMatchObject({ matrix: '4096x1024' })
  expect(spec({ sizes: 'large' }).spec.sizes['vector']).toBe('16Mi')
  expect(spec({ sizes: 'vector=2^10..2^20 x4; matrix=1024x1024' }).spec.sizes).toMatchObject({ vector: '2^10..2^20 x4', matrix: '1024x1024' })
  expect(spec({ ops: 'matmul', sizes: 'm=8 n=16 k=32 batch=2' }).spec.sizes['gemm']).toBe('m=8 n=16 k=32 batch=2')
  expect(spec({ sizes: 'gemm: 8x16x32 batch=2; vector: 8' }).spec.sizes).toMatchObject({ gemm: '8x16x32 batch=2', vector: '8' })
  expect(() => spec({ sizes: 'vectr=8' })).toThrow('Did you mean "vector"?')
})

test('of several Pythons those that are not chosen are no failure, unless they are named', () => {
  const interpreter = { path: '/usr/bin/python3', source: 'PATH', packages: [] }
  const python = (id: string, reason?: string): Device => ({ ...aDevice('python'), id, interpreter, available: reason === undefined ? { ok: true } : { ok: false, reason }, impls: [impl('torch', true, true)] })
  const missing = (options: SweepOptions, devices: Device[]) => specOf(readPicks(options, ['cpu', 'python']), options, devices).missing
  const both = [python('python:cpu'), python('python:cpu@old', 'found, not chosen')]
  expect(missing({ backends: 'python' }, both)).toEqual([])
  expect(missing({ devices: 'python:cpu@old' }, both)).toEqual(['python: found, not chosen'])
  expect(missing({ backends: 'python' }, [python('python:cpu', 'it hangs')])).toEqual(['python: it hangs'])
})

test('ops are named one by one, by family, and with attributes', () => {
  expect(spec({ ops: 'sum:axis=last+first,gated' }).spec.ops).toEqual([{ op: 'sum', attributes: { axis: ['last', 'first'] } }, { op: 'swiglu' }])
  expect(spec({ ops: 'layer_norm:eps=1e-3+1e+0,matmul:transB=true+false' }).spec.ops).toEqual([{ op: 'layer_norm', attributes: { eps: [1e-3, 1] } }, { op: 'matmul', attributes: { transB: [true, false] } }])
  expect(() => spec({ ops: 'layer_norm:eps=wide' })).toThrow('eps of layer_norm: expected a number from 0 to 1, received "wide"')
  expect(() => spec({ ops: 'exp:axis=last' })).toThrow('exp has no attributes')
})

test('a device names its backend', () => {
  expect(readPicks({ devices: 'cuda:0' }, ['cpu', 'cuda']).backends).toEqual(['cuda'])
  expect(() => spec({ backends: 'cpu', devices: 'cpu:1' })).toThrow('unknown device "cpu:1"')
})

test('how to measure is part of the sweep, and a mistake in it one message', () => {
  expect(spec({ rule: 'fixed-count=5', repeats: '3' }).spec).toMatchObject({ preset: 'standard', measure: { rule: { id: 'fixed-count', count: 5 } }, repeats: 3 })
  expect(spec({}).spec).not.toHaveProperty('measure')
  expect(() => spec({ ci: 'narrow' })).toThrow(new UsageError('--ci narrow is not understood; expected a share such as 0.5% or 0.005'))
})
