import { describe, expect, test } from 'vitest'
import { ratioOf, sideOf } from '../compare/ratio/ratio'
import { BOOTSTRAP_SAMPLES, medianInterval, type Interval } from './bootstrap'
import { createRandom, normal, type Random } from './random'

/** A distribution of times with the median it has in the long run. */
interface Source {
  draw: (random: Random) => number
  median: number
}

const bell = (random: Random) => 100 + normal(random)
const CONTINUOUS: Readonly<Record<string, Source>> = {
  'normal': { draw: bell, median: 100 },
  'lognormal': { draw: (random) => Math.exp(normal(random)), median: 1 },
  'exponential': { draw: (random) => -Math.log(random()), median: Math.LN2 },
  // 0.7 of the samples lie about 100, so that the median is at 0.5 / 0.7 of them: 100 + 0.5659 sigma.
  'two modes, 70 to 30': { draw: (random) => (random() < 0.7 ? bell(random) : 40 + bell(random)), median: 100.56595 },
}
/** The interval of these may hold more than it says: the median has a gap beside it, or samples share its value. */
const LUMPY: Readonly<Record<string, Source>> = {
  'two equal modes': { draw: (random) => bell(random) + (random() < 0.5 ? 0 : 40), median: 120 },
  'whole ticks': { draw: (random) => Math.round(99.8 + 1.5 * normal(random)), median: 100 },
  'fine ticks': { draw: (random) => Math.round(100.3 + 4 * normal(random)), median: 100 },
  'two values': { draw: (random) => (random() < 0.55 ? 1 : 2), median: 1 },
}

interface Trials {
  held: number
  /** Mean width of the intervals. */
  width: number
}

/** Share of trials whose interval holds `truth`. `intervalOf` draws its own samples. */
function simulate(trials: number, seed: number, truth: number, intervalOf: (random: Random) => Interval): Trials {
  const random = createRandom(seed)
  let held = 0
  let width = 0
  for (let i = 0; i < trials; i++) {
    const { low, high } = intervalOf(random)
    width += (high - low) / trials
    if (low <= truth && truth <= high) held++
  }
  return { held: held / trials, width }
}

const samplesOf = (source: Source, n: number, random: Random) => Array.from({ length: n }, () => source.draw(random))
const FEW = [5, 6, 7, 8, 10, 11, 13, 16, 24, 61, 199]
/** Standard errors of a share of `trials` near 95 %. */
const slack = (trials: number) => 2.5 * Math.sqrt((0.95 * 0.05) / trials)

describe('the 95 % CI of the median holds the long-run median', () => {
  const TRIALS = 2500
  test.each(Object.entries(CONTINUOUS))('in 93 to 97 %% of trials for few samples: %s', (_name, source) => {
    for (const n of FEW) {
      const { held } = simulate(TRIALS, n, source.median, (random) => medianInterval(samplesOf(source, n, random))!)
      expect(held, `n = ${n}`).toBeGreaterThan(0.93)
      expect(held, `n = ${n}`).toBeLessThan(0.97)
    }
  })

  test.each(Object.entries(LUMPY))('in at least 93 %% of trials for few samples: %s', (_name, source) => {
    for (const n of FEW) {
      const { held } = simulate(TRIALS, n, source.median, (random) => medianInterval(samplesOf(source, n, random))!)
      expect(held, `n = ${n}`).toBeGreaterThan(0.93)
    }
  })

  test.each(Object.entries(CONTINUOUS))('in 93 to 97 %% of trials by the bootstrap: %s', (_name, source) => {
    const { held } = simulate(400, 7, source.median, (random) => medianInterval(samplesOf(source, BOOTSTRAP_SAMPLES + 21, random))!)
    expect(held).toBeGreaterThan(0.93 - slack(400))
    expect(held).toBeLessThan(0.97 + slack(400))
  })
})

test('the interval is about as wide as the samples allow, without a step where the method changes', () => {
  const { draw } = CONTINUOUS['normal']!
  const width = (n: number) => simulate(300, 3, 0, (random) => medianInterval(samplesOf({ draw, median: 100 }, n, random))!).width
  // The median of n normal samples has the standard error sqrt(pi / 2 n).
  for (const n of [7, 11, 24, 61, BOOTSTRAP_SAMPLES - 1, BOOTSTRAP_SAMPLES]) {
    const ideal = 2 * 1.96 * Math.sqrt(Math.PI / 2 / n)
    expect(width(n) / ideal, `n = ${n}`).toBeGreaterThan(0.9)
    expect(width(n) / ideal, `n = ${n}`).toBeLessThan(1.35)
  }
})

test('the interval of a ratio holds the true ratio for few samples on both sides', () => {
  const TRIALS = 400
  for (const [name, { draw, median }] of Object.entries(CONTINUOUS)) {
    for (const [n, m] of [[7, 7], [13, 16], [5, 40], [61, 24]] as const) {
      const side = (samples: number[], seed: number) => sideOf([samples], seed)!
      const ratio = (random: Random) => ratioOf(side(samplesOf({ draw, median }, n, random).map((value) => value * 1.05), 1), side(samplesOf({ draw, median }, m, random), 2)).interval!
      const { held } = simulate(TRIALS, 100 * n + m, 1.05, ratio)
      expect(held, `${name}, ${n} to ${m}`).toBeGreaterThan(0.93 - slack(TRIALS))
    }
  }
})
