import { describe, expect, test } from 'vitest'
import { gatherRounds, joinRounds, MAX_PASSES, MIN_PASSES, roundPasses, type RoundPart } from '../../measure/result/rounds'
import { PRESETS } from '../../measure/settings'
import { createRandom, normal } from '../../stats/random'
import { testCase } from '../../testing'
import type { Result } from '../../result'
import { ratioGrade, roundsRatio, roundsRatioOver, roundsSettled } from './rounds'
import { verdictOf } from './verdict'

interface Host {
  passes?: number
  /** How much slower the host is in a pass or a round. */
  slowness?: (pass: number, round: number) => number
  switches?: (round: number) => number
}

const ROUNDS_OF_A_PASS = 10
const BURST = 4

/** Passes of a case of 1000 ns * `factor`. */
function measured(factor: number, seed: number, { passes = 8, slowness = () => 1, switches = () => 0 }: Host = {}): RoundPart[] {
  const random = createRandom(seed)
  return Array.from({ length: passes }, (_, pass): RoundPart => {
    const numbers = Array.from({ length: ROUNDS_OF_A_PASS }, (_, i) => pass * ROUNDS_OF_A_PASS + i)
    const slow = numbers.flatMap((round) => new Array<number>(BURST).fill(slowness(pass, round)))
    return {
      pass,
      result: {
        id: `${seed}-${pass}`, case: testCase({ impl: String(factor) }), status: 'ok', startedAt: '2026-01-01T00:00:00.000Z', wallMs: 10, measuredMs: 5, bytes: 1, flops: 1, inner: 50, timer: 'steady-clock', tickNs: 1, seed: 1,
        samplesNs: slow.map((times) => 1000 * factor * times * (1 + 0.005 * normal(random))), probesNs: slow.map((times) => 3000 * times),
        deviceStates: numbers.map((round, i) => ({ firstSample: BURST * i, state: { involuntarySwitches: switches(round), probeBestNs: 3000 } })),
        rounds: { group: 0, numbers, firstSamples: numbers.map((_, i) => BURST * i) },
      },
    }
  })
}
const join = (parts: RoundPart[], group = 7) => joinRounds(parts, group, PRESETS.quick)
const ratioOf = (side: Result, base: Result) => roundsRatio(roundPasses(side), roundPasses(base))

describe('speedups of interleaved rounds', () => {
  const noisy = { slowness: (pass: number) => 1 + 0.4 * ((pass * 7) % 5) / 5 }

  test('a host that is up to 32 % slower from pass to pass does not move them, and they are graded by themselves', () => {
    const ratio = ratioOf(join(measured(0.8, 1, noisy)), join(measured(1, 2, noisy)))!
    expect(ratio.ratio).toBeCloseTo(0.8, 2)
    expect(ratio.quads).toBe(40)
    expect(ratioGrade(ratio).grade).toBe('A')
    expect(ratioGrade(ratio, ['A', 'C'])).toEqual({ grade: 'C', reason: 'A time it rests on is graded C.' })
  })

  test('passes of a busy host do not count where the ratio is another in them', () => {
    const busyFor = (slower: number) => ({ passes: 12, slowness: (pass: number) => (pass % 3 === 0 ? slower : 1) })
    const ratio = ratioOf(join(measured(0.8, 1, busyFor(1.5))), join(measured(1, 2, busyFor(1.3))))!
    expect(ratio).toMatchObject({ ratio: expect.closeTo(0.8, 2), quads: 40 })
    expect(ratioGrade(ratio).grade).toBe('A')
    // Nor do they where rounds are few, as of long calls.
    const byPasses = (factor: number, seed: number, slower: number) => {
      const { group, passes } = roundPasses(join(measured(factor, seed, busyFor(slower))))!
      return { group, passes: passes.map((pass) => ({ ...pass, clean: [], cleanNs: [] })) }
    }
    expect(roundsRatio(byPasses(0.8, 1, 1.5), byPasses(1, 2, 1.3))).toMatchObject({ ratio: expect.closeTo(0.8, 2), quads: 40 })
    expect(roundsRatio(byPasses(0.8, 1, 1.3), byPasses(1, 2, 1.3))).toMatchObject({ ratio: expect.closeTo(0.8, 2), quads: 60 })
  })

  test('fewer than six passes have no interval', () => {
    const ratio = ratioOf(join(measured(0.8, 1, { passes: 5 })), join(measured(1, 2, { passes: 5 })))!
    expect(ratio.ratio).toBeCloseTo(0.8, 2)
    expect(ratio.interval).toBeUndefined()
  })

  test('rounds of other groups, or of one case alone, make none', () => {
    expect(ratioOf(join(measured(1, 1), 7), join(measured(1, 2), 8))).toBeUndefined()
    const { rounds: _, ...alone } = join(measured(1, 1))
    expect(ratioOf(alone, join(measured(1, 2)))).toBeUndefined()
  })

  test('rounds in which other programs took the processor do not count', () => {
    const taken = { slowness: (_: number, round: number) => (round % 3 === 0 ? 1 : 3), switches: (round: number) => (round % 3 === 0 ? 0 : 1) }
    const ratio = ratioOf(join(measured(0.8, 1, taken)), join(measured(1, 2)))!
    expect(ratio.ratio).toBeCloseTo(0.8, 2)
    expect(ratioGrade(ratio).grade).toBe('A')
  })

  test('passes that were held up throughout do not count, however few others are left: the ratio then has no interval', () => {
    // Another program has the processor in most passes of one side: what these take is its time slices.
    const passes = (ns: number, away: readonly number[]) => ({ group: 1, passes: Array.from({ length: 8 }, (_, i) => ({ first: 2 * i, ns: away.includes(i) ? 1000 * ns * (i + 1) : ns, rounds: 2, interrupted: away.includes(i), clean: [], cleanNs: [] })) })
    expect(roundsRatio(passes(80, [1, 2, 4, 5, 6]), passes(100, []))).toEqual({ ratio: expect.closeTo(0.8, 9), quads: 3 })
    // Where a call is long beside a time slice, those that were interrupted say nearly the same.
    const long = passes(80, [])
    expect(roundsRatio({ ...long, passes: long.passes.map((pass) => ({ ...pass, interrupted: true, ns: pass.ns * (1 + pass.first / 1000) })) }, passes(100, []))).toMatchObject({ quads: 8, interval: { low: expect.closeTo(0.8, 1) } })
  })

  test('over several runs the run is the unit', () => {
    const run = (ratio: number, seed: number) => [join(measured(ratio, seed), seed), join(measured(1, seed + 10), seed)].map(roundPasses)
    const runs = [run(0.8, 1), run(0.84, 2), run(0.76, 3)]
    const over = roundsRatioOver(runs.map(([side]) => side), runs.map(([, base]) => base))!
    expect(over.ratio).toBeCloseTo(0.8, 1)
    expect(over.interval!.high - over.interval!.low).toBeGreaterThan(0.05)
    expect(over.runs).toBe(3)
    // Two runs that agree tell a difference, by Student's t of one degree of freedom: 12.7 times their distance over 2.
    const [a, b] = [run(0.5, 4), run(0.52, 5)]
    const two = roundsRatioOver([a[0], b[0]], [a[1], b[1]])!
    expect(two.interval!.low / two.ratio).toBeCloseTo(Math.exp(-12.706 * Math.log(0.52 / 0.5) / 2), 1)
    expect([verdictOf(two.interval), two.degrees]).toEqual(['faster', 1])
    expect(roundsRatioOver([runs[0]![0]], [])).toBeUndefined()
    // A run that failed on one side leaves the others in their pairs.
    expect(roundsRatioOver(runs.map(([side]) => side), runs.slice(1).map(([, base]) => base))).toMatchObject({ runs: 2, ratio: expect.closeTo(0.8, 1) })
  })

  test('passes that one implementation lost are not made up by later ones', () => {
    // The host is 30 times slower in every other pass; the first pass of one side had samples of another length, and is left out.
    const host = { slowness: (pass: number) => (pass % 2 === 0 ? 1 : 30) }
    const [side, base] = [measured(0.8, 1, host).map((part) => (part.pass === 0 ? { ...part, result: { ...part.result, inner: 9 } } : part)), measured(1, 2, host)]
    expect(ratioOf(join(side), join(base))).toMatchObject({ ratio: expect.closeTo(0.8, 2), quads: 35 })
  })
})

describe('the time of a case from its rounds', () => {
  test('rests on the quiet rounds by the speed probe, few as they are, and keeps every sample', () => {
    const result = join(measured(1, 1, { slowness: (pass) => (pass % 3 === 0 ? 1 : 1.2) }))
    expect(result.samplesNs).toHaveLength(80 * BURST)
    expect(result.summary).toMatchObject({ count: 30 * BURST })
    expect(result.summary!.medianNs).toBeCloseTo(1000, -1)
    expect(result.gradeReasons!.join(' ')).toContain('Noisy host: 30 of 80 rounds were quiet and count.')
    expect(result.labels).toHaveLength(3)
    expect(result).toMatchObject({ converged: true, grade: 'B', rounds: { group: 7, numbers: Array.from({ length: 80 }, (_, i) => i), firstRounds: [0, 10, 20, 30, 40, 50, 60, 70] } })
  })

  test('rests on all rounds where too few are quiet, and then is not trusted', () => {
    const result = join(measured(1, 1, { slowness: (_, round) => (round === 0 ? 1 : 1.5) }))
    expect(result.summary!.count).toBe(80 * BURST)
    expect(result.grade).toBe('C')
  })

  test('samples of another length, after a process was started anew, are left out', () => {
    const parts = measured(1, 1).map((part) => (part.pass < 2 ? { ...part, result: { ...part.result, inner: 9 } } : part))
    expect(join(parts)).toMatchObject({ inner: 50, rounds: { numbers: Array.from({ length: 60 }, (_, i) => i + 20), firstRounds: [0, 10, 20, 30, 40, 50] } })
  })
})

/**
 * A case and itself on a noisy host, measured until the interval of the speedup is narrow enough, as a sweep does: the host is slower by up to 30 %
 * for minutes, passes differ by 0.8 %, and one in five by 3 %, bursts differ, and other programs lengthen single samples severalfold on either side.
 */
test('a case and itself have different times by the verdict in at most 1 % of 300 trials on a noisy host', () => {
  const random = createRandom(99)
  const noise = (pass: number) => ({ pass, host: 1 + 0.3 * random(), mine: 1 + (random() < 0.2 ? 0.03 : 0.008) * normal(random) })
  const partOf = (own: ReturnType<typeof noise>): RoundPart => {
    const numbers = Array.from({ length: ROUNDS_OF_A_PASS }, (_, i) => own.pass * ROUNDS_OF_A_PASS + i)
    const samplesNs = numbers.flatMap(() => {
      const burst = own.host * own.mine * (1 + 0.01 * normal(random))
      return Array.from({ length: BURST }, () => 1000 * burst * (1 + 0.003 * normal(random)) * (random() < 0.2 ? 1 + 4 * random() : 1))
    })
    return { pass: own.pass, result: { ...empty, samplesNs, rounds: { group: 0, numbers, firstSamples: numbers.map((_, i) => BURST * i) } } }
  }
  const empty = measured(1, 1)[0]!.result
  delete empty.deviceStates
  const trials = Array.from({ length: 300 }, () => {
    const sides: [RoundPart[], RoundPart[]] = [[], []]
    for (let pass = 0; ; pass++) {
      const now = noise(pass)
      for (const side of sides) side.push(partOf({ ...now, mine: noise(pass).mine }))
      if (pass + 1 < MIN_PASSES) continue
      const ratio = ratioOf(gatherRounds(sides[0], 1), gatherRounds(sides[1], 1))!
      const half = Math.max(ratio.interval!.high / ratio.ratio, ratio.ratio / ratio.interval!.low) - 1
      if (roundsSettled(ratio, PRESETS.quick.relativeCi) || pass + 1 === MAX_PASSES) return { half, verdict: verdictOf(ratio.interval!, 0.01) }
    }
  })
  expect(trials.filter(({ verdict }) => verdict === 'faster' || verdict === 'slower').length).toBeLessThanOrEqual(3)
  expect(trials.filter(({ half }) => half <= 0.02).length).toBeGreaterThan(150)
})
