import { describe, expect, test } from 'vitest'
import { joinRounds, type RoundPart } from '../../measure/result/rounds'
import { PRESETS } from '../../measure/settings'
import type { Result } from '../../result'
import { createRandom, normal } from '../../stats/random'
import { testCase } from '../../testing'
import { ratioGrade, roundsRatio, roundsRatioOver } from './rounds'

interface Host {
  rounds?: number
  slowness?: (round: number) => number
  switches?: (round: number) => number
}

/** Blocks of 48 samples of a case of 1000 ns * `factor`, on a host whose speed in a round is `slowness(round)`. */
function measured(factor: number, seed: number, { rounds = 16, slowness = () => 1, switches = () => 0 }: Host = {}): RoundPart[] {
  const random = createRandom(seed)
  return Array.from({ length: rounds }, (_, round): RoundPart => {
    const samplesNs = Array.from({ length: 48 }, () => 1000 * factor * slowness(round) * (1 + 0.005 * normal(random)))
    const result: Result = {
      id: `${seed}-${round}`, case: testCase({ impl: String(factor) }), status: 'ok', startedAt: '2026-01-01T00:00:00.000Z', wallMs: 10, measuredMs: 5, bytes: 1, flops: 1, samplesNs, inner: 50, timer: 'steady-clock', tickNs: 1, seed: 1,
      probesNs: samplesNs.map(() => 3000 * slowness(round)), deviceStates: [{ firstSample: 0, state: { involuntarySwitches: switches(round), probeBestNs: 3000 } }],
    }
    return { round, result }
  })
}
const join = (parts: RoundPart[], group = 7) => joinRounds(parts, group, PRESETS.quick)

describe('speedups of interleaved rounds', () => {
  const noisy = { slowness: (round: number) => 1 + 0.4 * ((round * 7) % 5) / 5 }

  test('a host that is up to 32 % slower from round to round does not move them, and they are graded by themselves', () => {
    const ratio = roundsRatio(join(measured(0.8, 1, noisy)), join(measured(1, 2, noisy)))!
    expect(ratio.ratio).toBeCloseTo(0.8, 2)
    expect(ratio.quads).toBe(8)
    expect(ratioGrade(ratio).grade).toBe('A')
    expect(ratioGrade(ratio, ['A', 'C'])).toEqual({ grade: 'C', reason: 'A time it rests on is graded C.' })
  })

  test('rounds of other groups, or of one case alone, make none', () => {
    expect(roundsRatio(join(measured(1, 1), 7), join(measured(1, 2), 8))).toBeUndefined()
    const { rounds: _, ...alone } = join(measured(1, 1))
    expect(roundsRatio(alone, join(measured(1, 2)))).toBeUndefined()
  })

  test('a round in which other programs took the processor all the time does not count', () => {
    const taken = { slowness: (round: number) => (round === 3 ? 3 : 1), switches: (round: number) => (round === 3 ? 60 : 0) }
    expect(roundsRatio(join(measured(0.8, 1, taken)), join(measured(1, 2)))!.quads).toBe(7)
  })

  test('over several runs the run is the unit', () => {
    const run = (ratio: number, seed: number) => [join(measured(ratio, seed), seed), join(measured(1, seed + 10), seed)] as const
    const runs = [run(0.8, 1), run(0.84, 2), run(0.76, 3)]
    const over = roundsRatioOver(runs.map(([side]) => side), runs.map(([, base]) => base))!
    expect(over.ratio).toBeCloseTo(0.8, 1)
    expect(over.interval!.high - over.interval!.low).toBeGreaterThan(0.05)
    expect(roundsRatioOver([runs[0]![0]], [])).toBeUndefined()
  })
})

describe('the time of a case from its rounds', () => {
  test('rests on the quiet rounds by the speed probe, few as they are, and keeps every sample', () => {
    const result = join(measured(1, 1, { slowness: (round) => (round % 3 === 0 ? 1 : 1.2) }))
    expect(result.samplesNs).toHaveLength(16 * 48)
    expect(result.summary).toMatchObject({ count: 6 * 48 })
    expect(result.summary!.medianNs).toBeCloseTo(1000, -1)
    expect(result.gradeReasons!.join(' ')).toContain('Noisy host: 6 of 16 rounds were quiet and count.')
    expect(result).toMatchObject({ converged: true, grade: 'B', rounds: { group: 7, numbers: Array.from({ length: 16 }, (_, i) => i) } })
  })

  test('rests on all rounds where too few are quiet, and then is not trusted', () => {
    const result = join(measured(1, 1, { slowness: (round) => (round === 0 ? 1 : 1.5) }))
    expect(result.summary!.count).toBe(16 * 48)
    expect(result.grade).toBe('C')
  })

  test('samples of another length, after a process was started anew, are left out', () => {
    const parts = measured(1, 1).map((part) => (part.round < 4 ? { ...part, result: { ...part.result, inner: 9 } } : part))
    expect(join(parts)).toMatchObject({ inner: 50, rounds: { numbers: Array.from({ length: 12 }, (_, i) => i + 4) } })
  })
})
