import { expect, it } from 'vitest'
import kernel from './kernel'

const inference = (batch: number, channels: number, plane: number) => kernel.build({ dtype: 'f32', dims: [batch, channels, plane, 0], scalars: [1e-5] }).steps[0]!

it('takes vectors of many elements whatever the planes are', () => {
  const { wgsl, groups } = inference(2000, 9, 95)
  expect(groups).toBe(Math.ceil((2000 * 9 * 95) / 4 / 256))
  // Four elements lie in two planes at most, or each in a plane of its own.
  expect(wgsl.match(/of_channel\(\(/g)).toHaveLength(2)
  expect(inference(2 ** 19, 3, 1).wgsl.match(/of_channel\(\(/g)).toHaveLength(4)
})

it('takes single elements of few', () => {
  expect(inference(2, 9, 95).wgsl).toContain('var<storage, read> x: array<f32>')
})
