import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { contrast, distance, seenAs, VISIONS } from '@core/testing-colours'
import { chartTheme, colorAt, diverging, inkOn, SEQUENTIAL } from './theme'

const css = readFileSync(resolve(import.meta.dirname, '../../../styles/tokens.css'), 'utf8')
const both = Object.keys(VISIONS).flatMap((vision) => (['light', 'dark'] as const).map((mode) => [vision, mode] as const))
const lightness = (hex: string, vision: string) => seenAs(hex, vision)[0]

it.each(['light', 'dark'] as const)('charts have the colours of the page in the %s theme', (mode) => {
  const [light, dark] = css.split(":root[data-theme='dark']") as [string, string]
  const token = (name: string) => new RegExp(`--${name}: (#\\w{6})`).exec(mode === 'light' ? light : dark)?.[1]
  const { text, muted, accent, good, danger, warning } = chartTheme(mode)
  expect({ text, muted, accent, danger, warning, good }).toEqual({ text: token('text'), muted: token('muted'), accent: token('accent'), danger: token('danger'), warning: token('warning'), good: token('good') })
})

it.each(both)('colours of verdicts are told apart with %s vision in the %s theme, and are read on their surface', (vision, mode) => {
  const { good, danger, warning, muted, surface } = chartTheme(mode)
  const named = Object.entries({ good, danger, warning, muted })
  const near = named.flatMap(([a, one], i) => named.slice(i + 1).flatMap(([b, other]) => (distance(seenAs(one, vision), seenAs(other, vision)) < 9 ? [`${a} ${b} ${distance(seenAs(one, vision), seenAs(other, vision)).toFixed(1)}`] : [])))
  expect(near).toEqual([])
  for (const [, one] of named) expect(contrast(one, surface)).toBeGreaterThanOrEqual(4.5)
})

it.each(Object.keys(VISIONS))('the scale of heat maps goes from dark to light with %s vision', (vision) => {
  const steps = SEQUENTIAL.map((hex) => lightness(hex, vision))
  for (const [i, step] of steps.entries()) if (i > 0) expect(step - steps[i - 1]!).toBeGreaterThan(2)
})

it.each(both)('both sides of a scale around nothing are told apart at every step with %s vision in the %s theme, and grow towards the ends', (vision, mode) => {
  const scale = diverging(chartTheme(mode))
  const middle = (scale.length - 1) / 2
  const from = (at: number) => Math.abs(lightness(scale[at]!, vision) - lightness(scale[middle]!, vision))
  for (let step = 1; step <= middle; step++) {
    expect(distance(seenAs(scale[middle - step]!, vision), seenAs(scale[middle + step]!, vision))).toBeGreaterThan(9)
    for (const sign of [-1, 1]) if (step > 1) expect(from(middle + sign * step)).toBeGreaterThan(from(middle + sign * (step - 1)))
  }
})

it.each(['light', 'dark'] as const)('text on a colour of a scale can be read in the %s theme', (mode) => {
  for (const scale of [SEQUENTIAL, diverging(chartTheme(mode))]) for (let share = 0; share <= 1; share += 0.05) expect(contrast(inkOn(colorAt(scale, share)), colorAt(scale, share))).toBeGreaterThanOrEqual(4.5)
})
