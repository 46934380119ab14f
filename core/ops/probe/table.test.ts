import { expect, it, describe } from 'vitest'
import { generatedInputs, givenInputs } from '../testing'
import { CHAINS, STEP, peakFma, peakMma, SPIN_ELEMENTS, spin, spinNs } from './table'

describe('peak_fma', () => {
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
    const out = peakFma.reference({ n: 1, iterations: 1 }, givenInputs([2]), 0, 1)[0]!
    // (2 + 3 + ... + 9) * 0.999 + 8 * 0.001, both as f32 holds them.
    expect(out).toBeCloseTo(43.964000566862524, 12)
  })

  it.each([1, 50, 1000, 20_000])('an f32 run of %d steps stays within the tolerance', (iterations) => {
    const p = { n: 64, iterations }
    const read = generatedInputs(peakFma, p, 'f32', 6)
    const reference = peakFma.reference(p, read, 0, 64)
    const x = read(0, 0, 64)
    let error = 0
    let norm = 0
    reference.forEach((value, i) => {
      error += (inSinglePrecision(x[i]!, iterations) - value) ** 2
      norm += value ** 2
    })
    expect(Math.sqrt(error / norm)).toBeLessThan(peakFma.tolerance(p, 'f32').relL2)
  })

  it('a run one twentieth short is outside the tolerance', () => {
    const read = givenInputs([0.5])
    const full = peakFma.reference({ n: 1, iterations: 1000 }, read, 0, 1)[0]!
    const short = peakFma.reference({ n: 1, iterations: 950 }, read, 0, 1)[0]!
    expect(Math.abs(short - full) / full).toBeGreaterThan(1e-4)
  })

  it('counts two operations per step of each chain', () => {
    expect(peakFma.flops({ n: 10, iterations: 100 })).toBe(16_000)
  })
})

describe('peak_mma', () => {
  it('ends where it started when every iteration was done', () => {
    expect(Array.from(peakMma.reference({ n: 3, iterations: 7 }, givenInputs([1, -2, 0.5]), 0, 3))).toEqual([1, -2, 0.5])
  })

  it('counts eight 16x8x16 products per iteration of a warp', () => {
    expect(peakMma.flops({ n: 1, iterations: 1 })).toBe(8 * 2 * 16 * 8 * 16)
    expect(peakMma.dims({ n: 132, iterations: 64 })).toEqual([132, 64])
  })
})

describe('spin', () => {
  it('the closed form is the chain worked out step by step', () => {
    // Three times y * 0.999 + 0.001 from 2, both as f32 holds them.
    expect(spin.reference({ iterations: 3 }, givenInputs([2]), 0, 1)[0]).toBeCloseTo(1.9970030762741506, 12)
  })

  it.each([1, 100, 20_000])('an f32 run of %d steps stays within the tolerance', (iterations) => {
    const p = { iterations }
    const read = generatedInputs(spin, p, 'f32', 6)
    const x = read(0, 0, SPIN_ELEMENTS)
    let error = 0
    let norm = 0
    spin.reference(p, read, 0, SPIN_ELEMENTS).forEach((value, e) => {
      let y = x[e]!
      for (let i = 0; i < iterations; i++) y = Math.fround(y * STEP.a + STEP.b)
      error += (y - value) ** 2
      norm += value ** 2
    })
    expect(Math.sqrt(error / norm)).toBeLessThan(spin.tolerance(p, 'f32').relL2)
  })

  it('a chain one twentieth short is found out, and so is one that was skipped', () => {
    const at = (iterations: number) => spin.reference({ iterations }, givenInputs([0.5]), 0, 1)[0]!
    expect(Math.abs(at(950) - at(1000)) / at(1000)).toBeGreaterThan(spin.tolerance({ iterations: 1000 }, 'f32').relL2)
    expect(at(1000)).not.toBeCloseTo(0.5, 2)
  })

  it('is as much work for every element: two operations a step', () => expect(spin.flops({ iterations: 100 })).toBe(1600))
})

describe('spin_ns', () => {
  it('hands its inputs on, whatever the time, and allows no error', () => {
    const inputs = [1, -2, 3.5, 4, 5, 6, 7, 8]
    for (const ns of [1000, 10_000_000]) expect([...spinNs.reference({ ns }, givenInputs(inputs), 0, 8)]).toEqual(inputs)
    expect(spinNs.tolerance({ ns: 1000 }, 'f32').relL2).toBeLessThan(2 ** -24)
  })

  it('says its time where sizes are shown, and passes it to the kernel', () => {
    expect(spinNs.shapeLabel({ ns: 2000 })).toBe('2000 ns')
    expect(spinNs.dims({ ns: 2000 })).toEqual([8, 2000])
  })
})
