import { mix32 } from '../values/random'

/** Uniform numbers in (0, 1), the same for the same seed everywhere. */
export type Random = () => number

/** A counter through lowbias32: 2^32 period, enough for resampling. The start is mixed so that seeds in a row are far apart. */
export function createRandom(seed: number): Random {
  let counter = mix32(mix32(seed >>> 0) ^ 0x85ebca6b)
  return () => {
    counter = (counter + 0x9e3779b9) >>> 0
    return (mix32(counter) + 0.5) / 4294967296
  }
}

/** Standard normal by the polar method (Marsaglia and Bray 1964). */
export function normal(random: Random): number {
  for (;;) {
    const x = 2 * random() - 1
    const y = 2 * random() - 1
    const s = x * x + y * y
    if (s > 0 && s < 1) return x * Math.sqrt((-2 * Math.log(s)) / s)
  }
}

/** Gamma with unit scale, shape >= 1 (Marsaglia and Tsang 2000): the sum of `shape` unit exponentials for whole shapes. */
export function gamma(random: Random, shape: number): number {
  const d = shape - 1 / 3
  const c = 1 / Math.sqrt(9 * d)
  for (;;) {
    const x = normal(random)
    const v = (1 + c * x) ** 3
    if (v > 0 && Math.log(random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v
  }
}
