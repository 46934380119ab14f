import { describe, expect, it } from 'vitest'
import { KERNELS } from '../registry'
import { bitonic, comparisons, planHeld } from './held'

const sorted = (values: readonly number[], pairs: readonly [number, number][]): number[] => {
  const held = [...values]
  for (const [a, b] of pairs) [held[a], held[b]] = [Math.min(held[a]!, held[b]!), Math.max(held[a]!, held[b]!)]
  return held
}
const rises = (values: readonly number[]) => values.every((value, i) => i === 0 || values[i - 1]! <= value)
const COUNTS = [2, 4, 6, 8, 10, 12, 16, 20, 24, 32]

describe('rows that threads hold', () => {
  // A network that sorts every sequence of zeros and ones sorts all (Knuth, 0-1 principle).
  it('are sorted by the comparisons of a thread', () => {
    for (const count of COUNTS.filter((one) => one <= 16)) {
      const pairs = comparisons(count)
      for (let bits = 0; bits < 2 ** count; bits++) if (!rises(sorted(Array.from({ length: count }, (_, i) => (bits >> i) & 1), pairs))) expect.fail(`${count}: ${bits.toString(2)}`)
    }
    for (const count of [20, 24, 32]) for (let start = 0; start < count; start++) expect(rises(sorted(Array.from({ length: count }, (_, i) => ((i * 7 + start * 11) * 13) % 37), comparisons(count))), `${count}`).toBe(true)
  })
  it('are merged from what rises and then falls', () => {
    for (const count of COUNTS) {
      for (let from = 0; from <= count; from++) {
        for (let to = from; to <= count; to++) {
          for (const inside of [0, 1]) expect(rises(sorted(Array.from({ length: count }, (_, i) => (i >= from && i < to ? inside : 1 - inside)), bitonic(count))), `${count} ${from} ${to}`).toBe(true)
        }
      }
    }
  })
  it('fit the threads of a subgroup', () => {
    for (let cols = 33; cols <= 1024; cols++) {
      const { lanes, held } = planHeld(cols, 32)!
      expect(lanes * held >= cols && lanes <= 32 && (held <= 16 || lanes === 32) && 8 * 64 * held <= 16_384, `${cols}`).toBe(true)
    }
    expect([planHeld(1025, 32), planHeld(600, undefined), planHeld(129, 4), planHeld(128, 4)]).toEqual([undefined, undefined, undefined, { lanes: 4, held: 32 }])
    expect([planHeld(471, 32), planHeld(300, 32), planHeld(60, 32)]).toEqual([{ lanes: 32, held: 16 }, { lanes: 32, held: 10 }, { lanes: 4, held: 16 }])
  })
  it('are many, and of devices with subgroups', () => {
    const steps = (rows: number, cols: number, subgroups?: number) => KERNELS.get('topk')!.build({ dtype: 'f32', dims: [rows, cols, 20], scalars: [], subgroups }).steps
    expect(steps(30_011, 500, 32)).toMatchObject([{ groups: Math.ceil(30_011 / 2) }])
    expect([steps(30_011, 500, 32), steps(30_011, 500), steps(300, 500, 32)].map(([one]) => one!.wgsl.includes('words[placed'))).toEqual([true, false, false])
  })
})
