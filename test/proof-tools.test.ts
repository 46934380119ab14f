import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { benchWords } from '../scripts/lib/bench-run.mjs'
import type { Ceiling } from '@core/session/types'
import { testCase, testResult } from '@core/testing'
import { aboveCeiling, sharesOf } from './bench/proof/above'
import { doBench, nvbench, type Sampled } from './bench/proof/other-rules'
import { robustLine } from './bench/proof/regression'

/** A case whose samples come from this function, at no wall time and at most 5000 at once. */
const scripted = (next: (i: number) => number): Sampled => {
  let taken = 0
  return { sample: ({ count, inner }) => Promise.resolve({ inner, samplesNs: Float64Array.from({ length: Math.min(count, 5000) }, () => next(taken++)), state: {} }) }
}
const MS = 1e6
/** Times spread evenly over this share of 1 ms, around it. */
const spread = (share: number) => (i: number) => MS * (1 + share * (((i * 7919) % 10_007) / 10_007 - 0.5))
const budget = { relativeCi: 0.005, limitSeconds: 5 }

describe('robustLine', () => {
  it('finds slope and intercept although one rung is far off', () => {
    const points = [2e3, 1e4, 5e4, 2e5, 1e6, 1e7].map((x) => ({ x, y: x === 5e4 ? 2 * x : 120 + 1.001 * x }))
    const line = robustLine(points)!
    expect(line.slope).toBeCloseTo(1.001, 6)
    expect(line.intercept).toBeCloseTo(120, 3)
  })

  it('has no line through one length', () => {
    expect(robustLine([{ x: 5, y: 5 }, { x: 5, y: 6 }])).toBeUndefined()
  })
})

describe('results above a ceiling', () => {
  const copyOf = (bytes: number, bytesPerSecond: number, mode: 'hot' | 'cold') => testResult({ case: testCase({ op: 'copy', params: { n: bytes / 8 }, mode }), bytes, flops: 0, summary: { ...testResult().summary!, medianNs: (bytes / bytesPerSecond) * 1e9 } })
  const ceilingOf = (value: number): Ceiling => ({ backend: 'cpu', device: 'cpu', deviceName: 'CPU', kind: 'copy', value, unit: 'bytes/s', measuredAt: '', result: testResult() })
  const results = [copyOf(1e6, 60e9, 'hot'), copyOf(1e6, 40e9, 'cold'), copyOf(1e9, 40e9, 'hot')]

  it('are none while the ceiling is what the memory gives, whatever a cache gives', () => {
    expect(aboveCeiling(sharesOf(results, [ceilingOf(40e9)], 1e7))).toEqual([])
  })

  it('are found where a ceiling was measured too low, cold or beyond the caches', () => {
    expect(aboveCeiling(sharesOf(results, [ceilingOf(30e9)], 1e7)).map(({ share }) => Math.round(share * 100))).toEqual([133, 133])
  })
})

describe('the rule of nvbench', () => {
  it('wants 0.5 s of measured time even of samples without noise', async () => {
    const { own } = await nvbench(scripted(() => MS), 'cold', 1, budget)
    expect(own.measuredSeconds).toBeGreaterThan(0.5)
  })

  it('ends noise above 0.5 % once it has stopped changing, and goes on for a narrow interval', async () => {
    const { own, narrow } = await nvbench(scripted(spread(0.2)), 'cold', 1, { relativeCi: 0.001, limitSeconds: 60 })
    expect(own.samples).toBeGreaterThan(500)
    expect(own.relativeCi).toBeGreaterThan(0.001)
    expect(narrow.relativeCi).toBeLessThanOrEqual(0.001)
    expect(narrow.samples).toBeGreaterThan(own.samples)
  })
})

describe('the rule of do_bench', () => {
  it('asks again while the interval is wider than wanted, and no more once it is not', async () => {
    const quiet = await doBench(scripted(() => MS), 'cold', budget)
    // Noise that falls with more rounds only: a uniform spread of ±50 % needs some 40,000 samples for ±0.5 %.
    const noisy = await doBench(scripted(spread(1)), 'cold', { ...budget, limitSeconds: 60 })
    expect(quiet.relativeCi).toBe(0)
    expect(noisy.relativeCi).toBeLessThanOrEqual(budget.relativeCi)
    expect(noisy.samples).toBeGreaterThan(4 * quiet.samples)
  })
})

describe('words of the command line of a bench', () => {
  it('tells names from arguments and lists the names there are', () => {
    expect(benchWords(['coverage', 'devices=cuda:0'], ['coverage', 'history'])).toEqual({ names: ['coverage'], args: { devices: 'cuda:0' } })
    expect(() => benchWords(['cover'], ['coverage', 'history'])).toThrow('there is no bench "cover"; expected one of coverage, history')
  })
})

describe('scripts for a GPU machine', () => {
  it('call benches that are in the bundle they run', () => {
    const entry = readFileSync(join(import.meta.dirname, 'bench/bundled.ts'), 'utf8')
    const bundled = new Set([...entry.matchAll(/from '\.\/([a-z-]+)\.bench'/g)].map(([, name]) => name))
    const folder = join(import.meta.dirname, '../scripts/gpu')
    const scripts = readdirSync(folder).filter((name) => name.endsWith('.sh')).map((name) => readFileSync(join(folder, name), 'utf8'))
    const called = scripts.flatMap((text) => [...text.matchAll(/^[^#\n]*bench\.mjs ([a-z][a-z-]*)/gm)].map(([, name]) => name))
    expect(called).toContain('sanitize')
    expect(called.filter((name) => !bundled.has(name))).toEqual([])
  })
})
