import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

type Colour = [number, number, number]

const css = readFileSync(resolve(import.meta.dirname, 'tokens.css'), 'utf8')
const [light, dark] = css.split(":root[data-theme='dark']") as [string, string]
const rules = readFileSync(resolve(import.meta.dirname, './index.css'), 'utf8')
const opacity = Number(/--disabled: ([\d.]+)/.exec(css)![1])
const colour = (theme: string, name: string): Colour => {
  const hex = new RegExp(`--${name}: #(\\w{6})`).exec(theme)![1]!
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Colour
}
const over = (colour: Colour, ground: Colour) => colour.map((value, i) => value * opacity + ground[i]! * (1 - opacity)) as Colour
const luminance = (colour: Colour) => {
  const [r, g, b] = colour.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4)) as Colour
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
const contrast = (one: Colour, other: Colour) => {
  const [low, high] = [luminance(one), luminance(other)].toSorted((a, b) => a - b) as [number, number]
  return (high + 0.05) / (low + 0.05)
}

test.each([['light', light], ['dark', dark]])('text of disabled controls keeps 3:1 in the %s theme', (_, theme) => {
  for (const ground of ['panel', 'canvas'].map((name) => colour(theme, name))) {
    for (const name of ['text', 'muted']) expect(contrast(over(colour(theme, name), ground), ground)).toBeGreaterThanOrEqual(3)
    expect(contrast(over(colour(theme, 'on-accent'), ground), over(colour(theme, 'accent'), ground))).toBeGreaterThanOrEqual(3)
  }
})

test.each([['light', light], ['dark', dark]])('a disabled box keeps 3:1, empty or ticked, in the %s theme', (_, theme) => {
  const [, outline] = /input\[type='checkbox'\]:not\(:checked, :indeterminate\)[^}]*border: 1px solid var\(--([\w-]+)\)/.exec(rules)!
  expect(/input\[type='checkbox'\]:disabled[^}]*opacity: ([^;]+);/.exec(rules)![1]).toBe('var(--disabled)')
  for (const ground of ['panel', 'canvas', 'raised'].map((name) => colour(theme, name))) {
    for (const name of [outline!, 'accent']) expect(contrast(over(colour(theme, name), ground), ground)).toBeGreaterThanOrEqual(3)
  }
})
