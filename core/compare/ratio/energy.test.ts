import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Energy } from '../../result'
import { assignEnergyVerdicts, energyDraftOf, energySideOf, type EnergyDraft } from './energy'

/** What one H200 measured: two kernels of a matrix product, each twice. */
const rows = (JSON.parse(readFileSync('test/fixtures/energy-matmul.json', 'utf8')) as { rows: (Energy & { case: string })[] }).rows
const recorded = (impl: string): Energy[] => rows.filter((row) => row.case.endsWith(impl)).map((row) => ({ ...row, windows: 5, source: 'NVML total energy' }))
const [kernel, cublas] = [recorded('kernel'), recorded('cublaslt')]
const judged = (side: Energy[], base: Energy[], threshold = 0.01) => {
  const draft = energyDraftOf(energySideOf(side), energySideOf(base), threshold)!
  assignEnergyVerdicts([draft], threshold)
  return draft.energy
}

describe('energy of two sides', () => {
  it('is a ratio whose interval follows from the windows of both', () => {
    const { ratio, low, high, verdict } = judged([kernel[0]!], [cublas[0]!])
    expect(ratio).toBeCloseTo(145.688 / 160.207, 4)
    expect(low).toBeLessThan(ratio)
    expect(high).toBeGreaterThan(ratio)
    // The widths of both intervals add in quadrature; Welch's t lies below that of one side's four degrees of freedom.
    const relative = ({ highJ, joulesPerCall }: Energy) => (highJ - joulesPerCall) / joulesPerCall
    expect(Math.log(high! / ratio)).toBeLessThanOrEqual(Math.hypot(relative(kernel[0]!), relative(cublas[0]!)) * 1.0001)
    expect(verdict).toBe('less')
    expect(judged([cublas[0]!], [kernel[0]!]).verdict).toBe('more')
  })

  it('is the same for two measurements of one kernel', () => expect(judged([kernel[1]!], [kernel[0]!]).verdict).toBe('same'))

  it('is by the run where there are several: two runs apart make a wide interval', () => {
    const apart = (factor: number): Energy => ({ ...kernel[0]!, joulesPerCall: kernel[0]!.joulesPerCall * factor })
    const { ratio, low, high, verdict } = judged([apart(0.9), apart(1.1)], [cublas[0]!, cublas[1]!])
    expect(ratio).toBeCloseTo((Math.sqrt(0.99) * 145.688) / 160.19, 3)
    expect(high! - low!).toBeGreaterThan(0.5)
    expect(verdict).toBe('ambiguous')
  })

  it('obeys the threshold, and is corrected for the number of cases', () => {
    expect(judged([kernel[0]!], [cublas[0]!], 0.2).verdict).toBe('same')
    const drafts = Array.from({ length: 40 }, (): EnergyDraft => energyDraftOf(energySideOf([kernel[1]!]), energySideOf([kernel[0]!]), 0.01)!)
    const half = 0.02
    const barely = energyDraftOf(energySideOf([{ ...kernel[0]!, joulesPerCall: 1.032, highJ: 1.032 * (1 + half) }]), energySideOf([{ ...kernel[0]!, joulesPerCall: 1, highJ: 1 + half / 100 }]), 0.01)!
    assignEnergyVerdicts([...drafts, barely], 0.01)
    expect(barely.energy.verdict).toBe('ambiguous')
    expect(barely.energy.adjustedP).toBeGreaterThan(barely.energy.p!)
    expect(barely.energy.doubt).toMatch(/correction for 41 cases .*: more on its own/)
  })

  it('is unclear where different counters counted', () => {
    const cpu: Energy = { ...cublas[0]!, source: 'RAPL package domain' }
    expect(judged([kernel[0]!], [cpu])).toMatchObject({ verdict: 'ambiguous', doubt: expect.stringContaining('RAPL package domain in the baseline') })
  })

  it('is absent where a side has none, and without an interval where there was one window', () => {
    expect(energyDraftOf(energySideOf([]), energySideOf(kernel), 0.01)).toBeUndefined()
    expect(judged([{ ...kernel[0]!, windows: 1 }], [cublas[0]!])).not.toHaveProperty('low')
  })
})
