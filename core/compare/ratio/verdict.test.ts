import { describe, expect, test } from 'vitest'
import { assignVerdicts, pText, type Draft } from './verdict'

const interval = (ratio: number, error: number) => ({ low: ratio * Math.exp(-1.96 * error), high: ratio * Math.exp(1.96 * error) })
/** A cell with this ratio and relative standard error. */
const draft = (ratio: number, error = 0.001, cycles?: Draft['cycles']): Draft => ({
  cell: {}, time: { ratio, interval: interval(ratio, error), logError: error, degrees: Infinity }, ...(cycles ? { cycles } : {}),
})
const inCycles = (ratio: number, clockRatio: number): NonNullable<Draft['cycles']> => ({ estimate: { ratio, interval: interval(ratio, 0.001), logError: 0.001, degrees: Infinity }, clockRatio, clocks: 'the clock was 1830 MHz here and 1980 MHz in the baseline' })
const verdicts = (drafts: Draft[], threshold = 0.01) => {
  assignVerdicts(drafts, threshold)
  return drafts.map(({ cell }) => cell.verdict)
}

test('clear cells keep their verdicts, and have no doubt', () => {
  const drafts = [draft(0.8), draft(1.3), draft(1.001), draft(1.01)]
  expect(verdicts(drafts)).toEqual(['faster', 'slower', 'same', 'ambiguous'])
  expect(drafts.map(({ cell }) => cell.doubt)).toEqual([undefined, undefined, undefined, undefined])
  expect(drafts[2]!.cell.adjustedP).toBe(1)
})

test('the threshold decides what counts', () => {
  expect(verdicts([draft(1.03)], 0.05)).toEqual(['same'])
  expect(verdicts([draft(1.03)], 0.02)).toEqual(['slower'])
})

test('one slower among many that are the same may be chance, and says so', () => {
  // 2.2 standard errors beyond the threshold: p = 0.028 alone, 40 times that among forty.
  const barely = draft(1.01 * Math.exp(0.022), 0.01)
  expect(verdicts([barely])).toEqual(['slower'])
  const lost = draft(1.01 * Math.exp(0.022), 0.01)
  const all = verdicts([lost, ...Array.from({ length: 39 }, () => draft(1))])
  expect(all[0]).toBe('ambiguous')
  expect(all.slice(1).every((verdict) => verdict === 'same')).toBe(true)
  expect(lost.cell.p).toBeCloseTo(0.028, 3)
  expect(lost.cell.adjustedP).toBeGreaterThan(0.9)
  expect(lost.cell.doubt).toBe('Unclear because of the correction for 40 cases (Benjamini-Hochberg): slower on its own (p = 0.028), but corrected p = 1; the limit is 0.05.')
})

test('an interval beyond the threshold whose test misses the limit never claims to be faster on its own', () => {
  // A skewed bootstrap: the interval ends just below the threshold, the standard error says p = 0.056.
  const skewed = (): Draft => ({ cell: {}, time: { ratio: 0.99 * Math.exp(-0.01911), interval: { low: 0.96, high: 0.9899 }, logError: 0.01, degrees: Infinity } })
  const alone = skewed()
  expect(verdicts([alone])).toEqual(['ambiguous'])
  expect(alone.cell.doubt).toBe('The 95 % CI lies beyond the threshold, but the test does not confirm it: p = 0.056; the limit is 0.05.')
  const among = skewed()
  expect(verdicts([among, draft(1), draft(1)])[0]).toBe('ambiguous')
  expect(among.cell.doubt).toBe('The 95 % CI lies beyond the threshold, but the test does not confirm it: p = 0.056, after the correction for 3 cases p = 0.17 (Benjamini-Hochberg); the limit is 0.05.')
})

test('p is never rounded down to the limit', () => {
  expect([0.0004, 0.0312, 0.0502, 0.049, 1].map(pText)).toEqual(['< 0.001', '0.031', '> 0.05', '0.049', '1'])
})

describe('cycles', () => {
  test('contradict a slower that only the clock made', () => {
    const doubtful = draft(1.08, 0.001, inCycles(1.0, 0.924))
    expect(verdicts([doubtful])).toEqual(['ambiguous'])
    expect(doubtful.cell.doubt).toBe('Slower in time (speedup 0.926x) but same in SM cycles (1.000x): the clock was 1830 MHz here and 1980 MHz in the baseline.')
  })
  test('contradict a same that a higher clock made', () => expect(verdicts([draft(1.0, 0.001, inCycles(1.08, 1.08))])).toEqual(['ambiguous']))
  test('confirm', () => expect(verdicts([draft(1.2, 0.001, inCycles(1.1, 0.92)), draft(0.8, 0.001, inCycles(0.9, 1.1))])).toEqual(['slower', 'faster']))
  test('are not asked where the clocks were the same', () => expect(verdicts([draft(1.0125, 0.0005, inCycles(1.0105, 0.998))])).toEqual(['slower']))
})

test('a ratio without an interval is ambiguous without a doubt or a p', () => {
  const bare: Draft = { cell: {}, time: { ratio: 2 } }
  expect(verdicts([bare])).toEqual(['ambiguous'])
  expect(bare.cell).not.toHaveProperty('doubt')
  expect(bare.cell).not.toHaveProperty('adjustedP')
})
