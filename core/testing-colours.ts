export type Triple = readonly [number, number, number]

/** Linear RGB as eyes with a missing cone see it (G. Machado et al., IEEE TVCG 15(6), 2009, severity 1). */
export const VISIONS: Readonly<Record<string, readonly [Triple, Triple, Triple]>> = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
/** Linear RGB of `#rrggbb`. */
export const linear = (hex: string): Triple => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)) as unknown as Triple
const dot = (a: Triple, b: Triple) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
/** Relative luminance of linear RGB. */
export const luminance = (rgb: Triple) => dot([0.2126, 0.7152, 0.0722], rgb)

/** CIE L*a*b* (D65) of a linear RGB colour. */
export function lab(rgb: Triple): Triple {
  const f = (t: number) => (t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116)
  const [x, y, z] = [f(dot([0.4124, 0.3576, 0.1805], rgb) / 0.9505), f(luminance(rgb)), f(dot([0.0193, 0.1192, 0.9505], rgb) / 1.089)]
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}

/** CIEDE2000 (G. Sharma et al., Color Research and Application 30(1), 2005). */
export function distance([l1, a1, b1]: Triple, [l2, a2, b2]: Triple): number {
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

/** CIE L*a*b* of `#rrggbb` as it is seen with this vision. */
export const seenAs = (hex: string, vision: string): Triple => lab(VISIONS[vision]!.map((row) => Math.min(1, Math.max(0, dot(row, linear(hex))))) as unknown as Triple)

/** Contrast of two colours by WCAG 2, 1 to 21. */
export function contrast(one: string, other: string): number {
  const [low, high] = [luminance(linear(one)), luminance(linear(other))].toSorted((p, q) => p - q) as [number, number]
  return (high + 0.05) / (low + 0.05)
}
