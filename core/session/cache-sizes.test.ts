import { expect, test } from 'vitest'
import { testDevice } from '../testing'
import { cacheSizes } from './cache-sizes'

const MIB = 2 ** 20

test('the list of the device comes first, then its facts, then another device of the same name', () => {
  const cuda = testDevice({ backend: 'cuda', id: 'cuda:0', name: 'GPU', caches: [{ name: 'L2', bytes: 60 * MIB }] })
  const webgpu = testDevice({ backend: 'webgpu', id: 'webgpu:0', name: 'GPU', facts: [] })
  expect(cacheSizes({ devices: [cuda, webgpu] }, 'webgpu', 'webgpu:0')).toEqual([60 * MIB])
  const facts = [{ name: 'Physical cores', value: '16' }, { name: 'L1 data cache', value: '48 KiB, per core' }, { name: 'L1 instruction cache', value: '32 KiB, per core' }, { name: 'L2 cache', value: '2 MiB, per core' }, { name: 'L3 cache', value: '300 MiB, shared by 16' }]
  expect(cacheSizes({ devices: [testDevice({ backend: 'cpu', id: 'cpu', facts })] }, 'cpu', 'cpu')).toEqual([768 * 1024, 32 * MIB, 300 * MIB])
})

test('a processor without either has the caches of the machine; nothing is invented for a GPU', () => {
  const devices = [testDevice({ backend: 'cpu', id: 'cpu', name: 'CPU', facts: [] }), testDevice({ backend: 'cuda', id: 'cuda:0', name: 'GPU', facts: [] })]
  const caches = [{ name: 'L3', bytes: 32 * MIB, instances: 2 }]
  expect(cacheSizes({ devices, caches }, 'cpu', 'cpu')).toEqual([64 * MIB])
  expect(cacheSizes({ devices, caches }, 'cuda', 'cuda:0')).toEqual([])
})
