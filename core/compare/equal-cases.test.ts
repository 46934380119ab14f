import { describe, expect, test } from 'vitest'
import { createRandom, normal, type Random } from '../stats/random'
import { testCase, testSession } from '../testing'
import { compareSessions, INTERLEAVE, interleavedRatio, pairSettled, verdictOf, type Block, type ComparedSession, type InterleavedRatio } from '.'

/**
 * The promises of measurement.md on an invented machine: its time drifts by up to 6 % while a pair is measured,
 * wanders, and stalls at times; samples have 1 % noise with a tail, and each block is off by 0.3 % as a whole.
 */
class Machine {
  #block = 0
  readonly #drift: number
  readonly #phase: number

  constructor(private readonly random: Random) {
    this.#drift = (random() - 0.5) * 0.12
    this.#phase = random() * 6
  }

  /** Samples of a block of work that truly takes `ns`. */
  samples(ns: number, count = 15): number[] {
    const at = this.#block++
    const level = 1 + (this.#drift * at) / 160 + 0.01 * Math.sin(at / 25 + this.#phase) + 0.003 * normal(this.random)
    const stall = this.random() < 0.02 ? 1.5 : 1
    return Array.from({ length: count }, () => ns * level * stall * (1 + 0.01 * normal(this.random) + (this.random() < 0.05 ? 0.1 * this.random() : 0)))
  }
}

/** Measures one pair interleaved as a run does: quads until it is settled, or the most there may be. */
function measurePair(seed: number, effect: number, threshold: number): InterleavedRatio {
  const machine = new Machine(createRandom(seed))
  const blocks: Block[] = []
  let ratio: InterleavedRatio | undefined
  for (let quad = 0; quad < INTERLEAVE.maxQuads && !pairSettled(ratio, threshold); quad++) {
    for (let place = 0; place < 4; place++) blocks.push({ pair: 'p', quad, place, samplesNs: machine.samples(place === 1 || place === 2 ? 1000 * (1 + effect) : 1000) })
    // Every other quad: as sharp, in half the time.
    if (quad + 1 >= INTERLEAVE.minQuads && quad % 2 === 1) ratio = interleavedRatio(blocks)
  }
  return ratio!
}

const share = (count: number, seed: number, effect: number, threshold: number, verdicts: readonly string[]) => {
  let hits = 0
  for (let i = 0; i < count; i++) if (verdicts.includes(verdictOf(measurePair(seed + i, effect, threshold).interval, threshold))) hits++
  return hits / count
}

describe('pairs measured interleaved', () => {
  test('300 pairs of equal cases: at most 1 % get a verdict, and most are found the same', () => {
    const ratios = Array.from({ length: 300 }, (_, i) => measurePair(1000 + i, 0, 0.01))
    const verdicts = ratios.map(({ interval }) => verdictOf(interval, 0.01))
    expect(verdicts.filter((verdict) => verdict === 'faster' || verdict === 'slower').length).toBeLessThanOrEqual(3)
    expect(verdicts.filter((verdict) => verdict === 'same').length / 300).toBeGreaterThan(0.95)
  })

  // A change as large as the threshold can never be wholly beyond it, so one of 1 % is looked for with a threshold of 0.5 %.
  test('a change of 1 % is found in at least 80 %, with half of it as threshold', () => expect(share(100, 5000, 0.01, 0.005, ['slower'])).toBeGreaterThanOrEqual(0.8))
  test('a change of 2 % is found in at least 95 %', () => expect(share(100, 6000, 0.02, 0.01, ['slower'])).toBeGreaterThanOrEqual(0.95))
  test('a change of 5 % is found in at least 99 %', () => expect(share(100, 7000, 0.05, 0.01, ['slower'])).toBeGreaterThanOrEqual(0.99))
  test('and the same for the better', () => expect(share(60, 8000, -0.02, 0.01, ['faster'])).toBeGreaterThanOrEqual(0.95))
})

describe('sessions', () => {
  const samples = new Map<string, number[]>()
  /** A session of 300 cases; case i takes `1 + effect(i)` of its time. Samples depend on the one before, as on a host that wanders. */
  function session(id: string, seed: number, effect: (i: number) => number): ComparedSession {
    const random = createRandom(seed)
    const rows = Array.from({ length: 300 }, (_, i) => {
      const centre = 1000 * (i + 1) * (1 + effect(i))
      let level = 0
      const taken = Array.from({ length: 160 }, () => centre * (1 + (level = 0.8 * level + 0.003 * normal(random)) + 0.01 * normal(random)))
      samples.set(`${id}${i}`, taken)
      return { id: `${id}${i}`, case: testCase({ params: { n: i + 1 } }), status: 'ok' as const, medianNs: [...taken].sort((a, b) => a - b)[80]! }
    })
    return { id, name: id, createdAt: '2026-01-01T00:00:00Z', environment: testSession().environment, rows }
  }
  const verdicts = (seed: number, effect: (i: number) => number, threshold?: number) =>
    compareSessions([session('a', seed, () => 0), session('b', seed + 1, effect)], (id) => ({ id, samplesNs: samples.get(id)! }), { threshold }).rows.map(({ cells }) => cells[1]!.verdict)

  test('of equal cases: at most 1 % get a verdict', () => {
    for (const threshold of [0.01, 0.001]) expect(verdicts(11, () => 0, threshold).filter((verdict) => verdict === 'faster' || verdict === 'slower').length).toBeLessThanOrEqual(3)
  })

  test('with every third case 5 % slower: all of those and hardly another are called', () => {
    const found = verdicts(21, (i) => (i % 3 === 0 ? 0.05 : 0))
    expect(found.filter((verdict, i) => i % 3 === 0 && verdict === 'slower').length).toBeGreaterThanOrEqual(99)
    expect(found.filter((verdict, i) => i % 3 !== 0 && (verdict === 'faster' || verdict === 'slower')).length).toBeLessThanOrEqual(2)
  })
})
