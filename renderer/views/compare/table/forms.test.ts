import { expect, it } from 'vitest'
import { formFor, leastWidth } from './forms'

it('shows of several sides what there is room for: all, then speedup and verdict, then its sign', () => {
  const of = (width: number) => { const { form, hidden } = formFor(width, 4, 148, false); return [form.compact, form.tight, hidden] }
  expect(of(2200)).toEqual([false, false, 0])
  expect(of(1300)).toEqual([true, false, 0])
  // A window of 1024 px.
  expect(of(950)).toEqual([true, true, 0])
  expect(of(0)).toEqual([false, false, 0])
})

it('says how many sides are out of sight where none of these fits', () => {
  expect(formFor(710, 4, 148, false).hidden).toBe(1)
  expect(formFor(950, 12, 148, false).hidden).toBe(7)
  // One side keeps its interval and scrolls.
  expect(formFor(700, 1, 96, true)).toMatchObject({ form: { compact: false, span: 6 }, hidden: 1 })
  expect(leastWidth(formFor(950, 4, 148, false).form, 4, 148)).toBeLessThanOrEqual(950)
})
