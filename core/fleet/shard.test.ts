import { expect, test } from 'vitest'
import { caseId } from '../case'
import { planSweep } from '../sweep/plan'
import type { SweepSpec } from '../session/sweep-spec'
import { testDevice, testGpu } from '../testing'
import { inShard, readShard } from './shard'

const spec: SweepSpec = {
  ops: [{ op: 'add' }, { op: 'softmax' }], sizes: { vector: '1000..8000 step 1000', matrix: '64x64, 128x128, 32x{16,48}' }, dtypes: ['f32', 'f16'], modes: ['hot', 'cold'], preset: 'quick',
  targets: [{ backend: 'cpu', device: 'cpu', impls: ['scalar', 'avx2'] }, { backend: 'cuda', device: 'cuda:0', impls: ['kernel'] }],
}

test('every case is in exactly one shard, whatever devices a machine has', () => {
  for (const devices of [[testDevice(), testGpu()], [testDevice({ memoryBytes: 40_000 })], [testGpu({ modes: ['hot'] })]]) {
    const targets = spec.targets.filter(({ backend }) => devices.some((device) => device.backend === backend))
    const { cases } = planSweep({ ...spec, targets }, devices)
    expect(cases.length).toBeGreaterThan(5)
    for (const count of [1, 3, 20, 500]) {
      const filters = Array.from({ length: count }, (_, i) => inShard({ ...spec, targets }, { index: i + 1, count }))
      for (const c of cases) expect(filters.filter((holds) => holds(c)), caseId(c)).toHaveLength(1)
    }
  }
})

test('what is compared stays together, and shards are of one size', () => {
  const { cases } = planSweep(spec, [testDevice(), testGpu()])
  const filter = inShard(spec, { index: 2, count: 4 })
  const own = cases.filter(filter)
  const point = ({ op, params, dtype }: (typeof cases)[number]) => JSON.stringify([op, params, dtype])
  const points = new Set(own.map(point))
  expect(own).toEqual(cases.filter((c) => points.has(point(c))))
  expect(Math.abs(points.size - new Set(cases.map(point)).size / 4)).toBeLessThanOrEqual(1)
})

test.each(['0/3', '4/3', '1', '1/0', 'a/b', '1/99999', '-1/2', '1.5/3'])('%s is no shard', (text) => expect(() => readShard(text)).toThrow(RangeError))
test('3/20 is one', () => expect(readShard(' 3/20')).toEqual({ index: 3, count: 20 }))
