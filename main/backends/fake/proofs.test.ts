import { describe, expect, test, vi } from 'vitest'
import { problemOf } from '@core/backend'
import type { BenchmarkCase } from '@core/case'
import { verdictOf } from '@core/compare'
import { ratioOf, sideOf } from '@core/compare/ratio/ratio'
import { cleanSamples } from '@core/measure/result/labels'
import { measureCase } from '@core/measure/measure-case'
import { PRESETS, type PresetId } from '@core/measure/settings'
import { getOp } from '@core/ops/registry'
import type { Result } from '@core/result'
import { createRandom, normal, type Random } from '@core/stats/random'
import { fakeBackend } from '.'

/*
 * The measuring loop against times that are known: a scripted case runs on a clock of its own, which moves by what its
 * samples take. Nothing here depends on the machine, and each run gives the same figures.
 */

/** Noise of one call relative to its true time. */
type Noise = (random: Random) => number

const NOISES: Readonly<Record<string, Noise>> = {
  quiet: (random) => 1 + 0.003 * normal(random),
  skewed: (random) => Math.exp(0.015 * normal(random)),
  spiky: (random) => (1 + 0.008 * normal(random)) * (random() < 0.03 ? 1.2 + random() : 1),
  'two modes': (random) => (random() < 0.85 ? 1 : 1.03) * (1 + 0.004 * normal(random)),
  'one-sided': (random) => 1 - 0.006 * Math.log(random()),
}

interface Script {
  /** True time of a call in ns. */
  trueNs: number
  noise: Noise
  seed: number
  preset?: PresetId
  /** What the timer adds to every sample, in ns, and its tick. */
  offsetNs?: number
  tickNs?: number
}

const c: BenchmarkCase = { op: 'add', params: { n: 16 }, dtype: 'f32', backend: 'fake', impl: 'steady', device: 'fake:0', mode: 'hot' }

/** Measures a scripted case by a preset, `standard` where not said, as any backend is measured. */
async function measured({ trueNs, noise, seed, preset = 'standard', offsetNs = 0, tickNs = 1 }: Script): Promise<Result> {
  const random = createRandom(seed)
  const inner = await fakeBackend({ factor: 1 }).open(problemOf(getOp(c.op), c, PRESETS.standard.seed))
  let clockMs = 0
  const prepared: typeof inner = {
    ...inner,
    tickNs,
    sample: async (request) => {
      const { state } = await inner.sample({ ...request, count: 1 })
      const samplesNs = Float64Array.from({ length: request.count }, () => {
        // Calls in a row share what disturbs them; the timer sees whole ticks of all of them and its own cost.
        const elapsedNs = Math.round((trueNs * noise(random) * request.inner + offsetNs) / tickNs) * tickNs
        clockMs += elapsedNs / 1e6
        return elapsedNs / request.inner
      })
      return { samplesNs, inner: request.inner, state }
    },
  }
  return measureCase({ op: getOp(c.op), case: c, prepared, settings: PRESETS[preset], now: () => clockMs, resultId: 'r' })
}

/** Generous: the tests are computation only, on machines that may be busy. */
vi.setConfig({ testTimeout: 60_000 })

test('truth ladder: known times from 2 us to 10 ms come back with slope 1.000 and the offset of the timer', async () => {
  const offsetNs = 40
  const rungs = Array.from({ length: 14 }, (_, i) => 2000 * 5000 ** (i / 13))
  for (const [name, noise] of Object.entries(NOISES)) {
    const ladder: { trueNs: number; medianNs: number; inner: number }[] = []
    for (const [i, trueNs] of rungs.entries()) {
      const { summary, inner, status, converged } = await measured({ trueNs, noise, seed: 100 + i, offsetNs, tickNs: 32 })
      expect({ name, trueNs, status, converged }).toEqual({ name, trueNs, status: 'ok', converged: true })
      ladder.push({ trueNs, medianNs: summary!.medianNs, inner: inner! })
    }
    // The median of the noise itself, which is part of the truth for noise that only adds.
    const random = createRandom(1)
    const centre = Array.from({ length: 100_001 }, () => noise(random)).sort((a, b) => a - b)[50_000]!
    // The offset is shared by the calls of a sample, so each rung says what it should be: least squares weighted by 1 / time^2.
    const points = ladder.map(({ trueNs, medianNs, inner }) => ({ x: trueNs * centre, y: medianNs - offsetNs / inner }))
    const weight = points.map(({ x }) => 1 / x ** 2)
    const sum = (of: (point: { x: number; y: number }) => number) => points.reduce((total, point, i) => total + weight[i]! * of(point), 0)
    const [w, x, y, xx, xy] = [sum(() => 1), sum((p) => p.x), sum((p) => p.y), sum((p) => p.x * p.x), sum((p) => p.x * p.y)]
    const slope = (w * xy - x * y) / (w * xx - x * x)
    const interceptNs = (y - slope * x) / w
    expect(Math.abs(slope - 1), name).toBeLessThanOrEqual(0.002)
    expect(Math.abs(interceptNs), name).toBeLessThan(20)
    for (const { trueNs, medianNs } of ladder) expect(Math.abs(medianNs - trueNs * centre), `${name} ${trueNs}`).toBeLessThanOrEqual(Math.max(0.005 * trueNs, 100))
  }
})

describe('the interval holds the true median in 93 to 97 % of trials though it decides when to stop', () => {
  const TRIALS = 400
  const noises: [string, Noise][] = [['normal', (random) => Math.max(0.1, 1 + 0.2 * normal(random))], ['lognormal', (random) => Math.exp(0.25 * normal(random))]]
  test.each(noises)('%s', async (_name, noise) => {
    let held = 0
    let samples = 0
    let converged = 0
    for (let i = 0; i < TRIALS; i++) {
      const result = await measured({ trueNs: 4e5, noise, seed: 20_000 + i, preset: 'quick' })
      const { count, ciLowNs, ciHighNs } = result.summary!
      samples += count!
      if (result.converged) converged++
      if (ciLowNs! <= 4e5 && 4e5 <= ciHighNs!) held++
    }
    // More than the 250 of the least time: it was the interval that ended them.
    expect(samples / TRIALS).toBeGreaterThan(400)
    expect(converged / TRIALS).toBeGreaterThan(0.9)
    // The share of so many trials is itself known to 2 % only; 3000 trials give 93.6 to 93.9 %.
    expect(held / TRIALS).toBeGreaterThanOrEqual(0.93 - 0.02)
    expect(held / TRIALS).toBeLessThanOrEqual(0.97 + 0.02)
  })
})

describe('two measurements of the same preset', () => {
  const names = Object.keys(NOISES)
  /** Ratio of one measurement to another whose true time is 1 + `slower` of it. */
  async function pair(i: number, slower: number) {
    const noise = NOISES[names[i % names.length]!]!
    const trueNs = 3000 * 10 ** ((i % 7) / 2)
    const sides = [await measured({ trueNs, noise, seed: 10_000 + 2 * i }), await measured({ trueNs: trueNs * (1 + slower), noise, seed: 10_001 + 2 * i })]
    const [base, side] = sides.map((result, k) => sideOf([cleanSamples(result)], i + k)!)
    return ratioOf(side!, base!).interval!
  }
  const shareOf = async (pairs: number, first: number, slower: number, found: (interval: { low: number; high: number }) => boolean) => {
    let count = 0
    for (let i = first; i < first + pairs; i++) if (found(await pair(i, slower))) count++
    return count / pairs
  }

  test('300 pairs of equal cases: at most 1 % faster or slower', async () => {
    expect(await shareOf(300, 0, 0, (interval) => !['same', 'ambiguous'].includes(verdictOf(interval)))).toBeLessThanOrEqual(0.01)
  })
  test('+1 %: the interval excludes 1 in at least 80 %', async () => expect(await shareOf(100, 1000, 0.01, ({ low }) => low > 1)).toBeGreaterThanOrEqual(0.8))
  test('+2 %: slower in at least 95 %', async () => expect(await shareOf(100, 2000, 0.02, (interval) => verdictOf(interval) === 'slower')).toBeGreaterThanOrEqual(0.95))
  test('+5 %: slower in at least 99 %', async () => expect(await shareOf(100, 3000, 0.05, (interval) => verdictOf(interval) === 'slower')).toBeGreaterThanOrEqual(0.99))
})
