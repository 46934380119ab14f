import { expect, it } from 'vitest'
import { STEP } from '../peak_fma/op'
import { generatedInputs, givenInputs } from '../readers'
import op, { SPIN_ELEMENTS } from './op'

it('the closed form is the chain worked out step by step', () => {
  // Three times y * 0.999 + 0.001 from 2, both as f32 holds them.
  expect(op.reference({ iterations: 3 }, givenInputs([2]), 0, 1)[0]).toBeCloseTo(1.9970030762741506, 12)
})

it.each([1, 100, 20_000])('an f32 run of %d steps stays within the tolerance', (iterations) => {
  const p = { iterations }
  const read = generatedInputs(op, p, 'f32', 6)
  const x = read(0, 0, SPIN_ELEMENTS)
  let error = 0
  let norm = 0
  op.reference(p, read, 0, SPIN_ELEMENTS).forEach((value, e) => {
    let y = x[e]!
    for (let i = 0; i < iterations; i++) y = Math.fround(y * STEP.a + STEP.b)
    error += (y - value) ** 2
    norm += value ** 2
  })
  expect(Math.sqrt(error / norm)).toBeLessThan(op.tolerance(p, 'f32').relL2)
})

it('a chain one twentieth short is found out, and so is one that was skipped', () => {
  const at = (iterations: number) => op.reference({ iterations }, givenInputs([0.5]), 0, 1)[0]!
  expect(Math.abs(at(950) - at(1000)) / at(1000)).toBeGreaterThan(op.tolerance({ iterations: 1000 }, 'f32').relL2)
  expect(at(1000)).not.toBeCloseTo(0.5, 2)
})

it('is as much work for every element: two operations a step', () => expect(op.flops({ iterations: 100 })).toBe(1600))
