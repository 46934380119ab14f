import { expect, test } from 'vitest'
import type { Device, Impl } from '@core/backend'
import { getOp } from '@core/ops/registry'
import { aDevice } from '../../runner/testing'
import { kernelColumns, opTable, table } from './tables'

const impl = (id: string, kernels: Impl['kernels']): Impl => ({ id, title: id, available: { ok: true }, kernels, preferred: false })
const device = (backend: string, ...impls: Impl[]): Device => ({ ...aDevice(backend), backend, impls })

test('operations stand with the dtypes of each implementation, and a dash where it has no kernel', () => {
  const columns = kernelColumns([
    device('cpu', impl('scalar', { add: ['f32'] }), impl('avx2', { add: ['f32'] })),
    device('cuda', impl('kernel', { add: ['bf16', 'f32'], exp: ['f32'] }), impl('other', { add: ['f32'] })),
    device('python', impl('torch', { exp: ['f32'] })),
    { ...device('python', impl('torch', { exp: ['f16'] })), id: 'python:cuda:0' },
    device('webgpu'),
  ])
  expect(opTable([getOp('add'), getOp('exp')], columns).split('\n')).toEqual([
    'operation  family  sizes   cpu  cuda kernel  cuda other  torch',
    'add        binary  vector  f32  f32 bf16     f32         –',
    'exp        unary   vector  –    f32          –           f32 f16',
    '',
    '2 operations, of which have a kernel: cpu 1, cuda kernel 2, cuda other 1, torch 1. – = not implemented. Attributes and PyTorch calls: --json.',
  ])
})

test('columns line up, empty ones go, and nothing trails', () => {
  const rows = [
    { op: 'add', time: '1.5 us', note: '' },
    { op: 'layer_norm', time: '12 us', note: '' },
  ]
  expect(
    table(rows, [
      { title: 'op', cell: (r) => r.op },
      { title: 'median', align: 'right', cell: (r) => r.time },
      { title: 'note', cell: (r) => r.note },
    ]),
  ).toBe('op          median\nadd         1.5 us\nlayer_norm   12 us')
})

test('a stored text stays in its cell', () => {
  expect(table([{ name: 'a\nforged \u001b[2J' }], [{ title: 'name', cell: (r) => r.name }])).toBe('name\na forged \\u001b[2J')
})
