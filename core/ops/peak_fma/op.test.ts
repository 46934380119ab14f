import { expect, it } from 'vitest'
import { generatedInputs, givenInputs } from '../readers'
import op, { CHAINS, STEP } from './op'

/** The chains as a kernel runs them, with f32 rounding after each fused step. */
function inSinglePrecision(x: number, iterations: number): number {
  let sum = 0
  for (let c = 0; c < CHAINS; c++) {
    let y = Math.fround(x + c)
    for (let i = 0; i < iterations; i++) y = Math.fround(y * STEP.a + STEP.b)
    sum = Math.fround(sum + y)
  }
  return sum
}

it('the closed form is one step worked out by hand', () => {
  const out = op.reference({ n: 1, iterations: 1 }, givenInputs([2]), 0, 1)[0]!
  // (2 + 3 + ... + 9) * 0.999 + 8 * 0.001, both as f32 holds them.
  expect(out).toBeCloseTo(43.964000566862524, 12)
})

it.each([1, 50, 1000, 20_000])('an f32 run of %d steps stays within the tolerance', (iterations) => {
  const p = { n: 64, iterations }
  const read = generatedInputs(op, p, 'f32', 6)
  const reference = op.reference(p, read, 0, 64)
  const x = read(0, 0, 64)
  let error = 0
  let norm = 0
  reference.forEach((value, i) => {
    error += (inSinglePrecision(x[i]!, iterations) - value) ** 2
    norm += value ** 2
  })
  expect(Math.sqrt(error / norm)).toBeLessThan(op.tolerance(p, 'f32').relL2)
})

it('a run one twentieth short is outside the tolerance', () => {
  const read = givenInputs([0.5])
  const full = op.reference({ n: 1, iterations: 1000 }, read, 0, 1)[0]!
  const short = op.reference({ n: 1, iterations: 950 }, read, 0, 1)[0]!
  expect(Math.abs(short - full) / full).toBeGreaterThan(1e-4)
})

it('counts two operations per step of each chain', () => {
  expect(op.flops({ n: 10, iterations: 100 })).toBe(16_000)
})
