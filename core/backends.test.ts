import { expect, it } from 'vitest'
import { BACKENDS, placeColor, type Theme } from './backends'

type Triple = readonly [number, number, number]

const SURFACES: Readonly<Record<Theme, string>> = { light: '#ffffff', dark: '#16191d' }

/** Linear RGB as eyes with a missing cone see it (G. Machado et al., IEEE TVCG 15(6), 2009, severity 1). */
const VISIONS: Readonly<Record<string, readonly [Triple, Triple, Triple]>> = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
/** Least CIEDE2000 distance between two colours. About 2 is just noticeable side by side. */
const LEAST: Readonly<Record<string, number>> = { normal: 18, deuteranopia: 9, protanopia: 9, tritanopia: 9 }

const linear = (hex: string): Triple => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)) as unknown as Triple
const dot = (a: Triple, b: Triple) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
const luminance = (rgb: Triple) => dot([0.2126, 0.7152, 0.0722], rgb)

/** CIE L*a*b* (D65) of a linear RGB colour. */
function lab(rgb: Triple): Triple {
  const f = (t: number) => (t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116)
  const [x, y, z] = [f(dot([0.4124, 0.3576, 0.1805], rgb) / 0.9505), f(luminance(rgb)), f(dot([0.0193, 0.1192, 0.9505], rgb) / 1.089)]
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}

/** CIEDE2000 (G. Sharma et al., Color Research and Application 30(1), 2005). */
function distance([l1, a1, b1]: Triple, [l2, a2, b2]: Triple): number {
  const rad = (degrees: number) => (degrees * Math.PI) / 180
  const mean = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2
  const stretch = 1 + 0.5 * (1 - Math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7)))
  const [c1, c2] = [Math.hypot(a1 * stretch, b1), Math.hypot(a2 * stretch, b2)]
  const hue = (a: number, b: number) => ((Math.atan2(b, a * stretch) * 180) / Math.PI + 360) % 360
  const [h1, h2] = [hue(a1, b1), hue(a2, b2)]
  const turn = ((h2 - h1 + 540) % 360) - 180
  const [l, c, h] = [(l1 + l2) / 2, (c1 + c2) / 2, (h1 + turn / 2 + 360) % 360]
  const t = 1 - 0.17 * Math.cos(rad(h - 30)) + 0.24 * Math.cos(rad(2 * h)) + 0.32 * Math.cos(rad(3 * h + 6)) - 0.2 * Math.cos(rad(4 * h - 63))
  const dl = (l2 - l1) / (1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2))
  const dc = (c2 - c1) / (1 + 0.045 * c)
  const dh = (2 * Math.sqrt(c1 * c2) * Math.sin(rad(turn / 2))) / (1 + 0.015 * c * t)
  const rotation = -2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * Math.sin(rad(60 * Math.exp(-(((h - 275) / 25) ** 2))))
  return Math.sqrt(dl ** 2 + dc ** 2 + dh ** 2 + rotation * dc * dh)
}

/** Every colour that a series can have. */
const colours = (theme: Theme) => [...new Set(Array.from({ length: 20 }, (_, i) => placeColor(i, theme)))]

it('measures differences of colours as published', () => {
  // Pairs 1, 7 and 17 of the test data of Sharma et al.
  expect(distance([50, 2.6772, -79.7751], [50, 0, -82.7485])).toBeCloseTo(2.0425, 4)
  expect(distance([50, 0, 0], [50, -1, 2])).toBeCloseTo(2.3669, 4)
  expect(distance([50, 2.5, 0], [73, 25, -18])).toBeCloseTo(27.1492, 4)
})

it.each(Object.keys(VISIONS).flatMap((vision) => (['light', 'dark'] as const).map((theme) => [vision, theme] as const)))('colours of series are told apart with %s vision in the %s theme', (vision, theme) => {
  const seen = colours(theme).map((hex) => [hex, lab(VISIONS[vision]!.map((row) => Math.min(1, Math.max(0, dot(row, linear(hex))))) as unknown as Triple)] as const)
  const near = seen.flatMap(([a, p], i) => seen.slice(i + 1).flatMap(([b, q]) => (distance(p, q) < LEAST[vision]! ? [`${a} ${b} ${distance(p, q).toFixed(1)}`] : [])))
  expect(near).toEqual([])
})

it.each<Theme>(['light', 'dark'])('lines keep a contrast of 3:1 against the surface of the %s theme', (theme) => {
  const behind = luminance(linear(SURFACES[theme]))
  const faint = colours(theme).filter((hex) => (Math.max(luminance(linear(hex)), behind) + 0.05) / (Math.min(luminance(linear(hex)), behind) + 0.05) < 3)
  expect(faint).toEqual([])
})

it('every implementation of a backend has a colour of its own', () => {
  for (const { hues } of BACKENDS) expect(new Set(Object.values(hues)).size).toBe(Object.keys(hues).length)
  expect(colours('light')).toHaveLength(14)
})
