import { expect, it } from 'vitest'
import { givenInputs } from '../readers'
import op from './op'

it('returns its input and allows no difference at all', () => {
  expect(Array.from(op.reference({ n: 4 }, givenInputs([1, -0.5, 3e-39, 2]), 1, 3))).toEqual([-0.5, Math.fround(3e-39), 2])
  expect(op.tolerance({ n: 4 }, 'bf16').maxUlp).toBe(0)
})

it('moves each element twice and computes nothing', () => {
  expect([op.bytes({ n: 1000 }, 'f32'), op.bytes({ n: 1000 }, 'bf16'), op.flops({ n: 1000 })]).toEqual([8000, 4000, 0])
})
