import { expect, test } from 'vitest'
import { partInView } from './part-in-view'

/** Headings of a report of 2000 px in a window of 500 px, the last two 300 and 100 px above its end. */
const HEADINGS = [0, 400, 900, 1700, 1900]
const at = (top: number) => partInView(HEADINGS.map((y) => y - top), { top, height: 500, whole: 2000 })

test('the part read is the one whose heading has come up', () => {
  expect(at(0)).toBe(0)
  expect(at(330)).toBe(0)
  expect(at(345)).toBe(1)
  expect(at(845)).toBe(2)
})

test('parts that cannot reach the upper edge have their turn over the last screen, one after the other', () => {
  expect(at(1500)).toBe(4)
  const seen = Array.from({ length: 1501 }, (_, top) => at(top))
  expect(new Set(seen)).toEqual(new Set([0, 1, 2, 3, 4]))
  expect(seen).toEqual([...seen].sort((a, b) => a - b))
})

test('a report that fits has its first part read', () => {
  expect(partInView([0, 200], { top: 0, height: 500, whole: 400 })).toBe(0)
  expect(partInView([], { top: 0, height: 500, whole: 500 })).toBe(0)
})
