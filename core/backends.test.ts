import { expect, it } from 'vitest'
import { seriesColor, type Theme } from './backends'

const KEYS = ['cuda/kernel', 'webgpu/wgsl', 'cpu/scalar', 'cpu/sse2', 'cpu/avx2', 'cpu/avx512', 'python/torch', 'python/torch.compile', 'python/triton', 'python/numpy', 'python/jax', 'python/cupy']

/** CIE L*a*b* (D65) of a hex colour. */
function lab(hex: string): [number, number, number] {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)) as [number, number, number]
  const f = (t: number) => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116)
  const [x, y, z] = [f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505), f(0.2126 * r + 0.7152 * g + 0.0722 * b), f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089)]
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}

it.each<Theme>(['light', 'dark'])('colours of known implementations are far apart in the %s theme', (theme) => {
  const near = KEYS.flatMap((a, i) => KEYS.slice(i + 1).flatMap((b) => {
    const [p, q] = [lab(seriesColor(a, theme)), lab(seriesColor(b, theme))]
    const distance = Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2])
    return distance < 22 ? [`${a} ${b} ${distance.toFixed(0)}`] : []
  }))
  expect(near).toEqual([])
})
