import { expect, it } from 'vitest'
import { BACKENDS, placeColor, seriesColor, type Theme } from './backends'
import { contrast, distance, seenAs, VISIONS } from './testing-colours'

const SURFACES: Readonly<Record<Theme, string>> = { light: '#ffffff', dark: '#16191d' }

/** Least CIEDE2000 distance between two colours. About 2 is just noticeable side by side. */
const LEAST: Readonly<Record<string, number>> = { normal: 18, deuteranopia: 9, protanopia: 9, tritanopia: 9 }

/** Every colour that a series can have. */
const colours = (theme: Theme) => [...new Set(Array.from({ length: 20 }, (_, i) => placeColor(i, theme)))]

it('measures differences of colours as published', () => {
  // Pairs 1, 7 and 17 of the test data of Sharma et al.
  expect(distance([50, 2.6772, -79.7751], [50, 0, -82.7485])).toBeCloseTo(2.0425, 4)
  expect(distance([50, 0, 0], [50, -1, 2])).toBeCloseTo(2.3669, 4)
  expect(distance([50, 2.5, 0], [73, 25, -18])).toBeCloseTo(27.1492, 4)
})

it.each(Object.keys(VISIONS).flatMap((vision) => (['light', 'dark'] as const).map((theme) => [vision, theme] as const)))('colours of series are told apart with %s vision in the %s theme', (vision, theme) => {
  const seen = colours(theme).map((hex) => [hex, seenAs(hex, vision)] as const)
  const near = seen.flatMap(([a, p], i) => seen.slice(i + 1).flatMap(([b, q]) => (distance(p, q) < LEAST[vision]! ? [`${a} ${b} ${distance(p, q).toFixed(1)}`] : [])))
  expect(near).toEqual([])
})

it.each<Theme>(['light', 'dark'])('lines keep a contrast of 3:1 against the surface of the %s theme', (theme) => {
  const faint = colours(theme).filter((hex) => contrast(hex, SURFACES[theme]) < 3)
  expect(faint).toEqual([])
})

it('every implementation of a backend has a colour of its own', () => {
  for (const { hues } of BACKENDS) expect(new Set(Object.values(hues)).size).toBe(Object.keys(hues).length)
  expect(colours('light')).toHaveLength(14)
})

it('implementations that no descriptor names differ in colour too, within a backend, and keep it', () => {
  const impls = ['steady', 'noisy', 'zeros', 'oom', 'lower', 'hangs', 'dies', 'slow', 'wrong', 'late', 'odd', 'even']
  const first = impls.map((impl) => seriesColor(`scripted/${impl}`, 'light'))
  expect(new Set(first).size).toBe(impls.length)
  expect(impls.map((impl) => seriesColor(`scripted/${impl}`, 'light'))).toEqual(first)
})
