import { describe, expect, test } from 'vitest'
import { sessionAnswer } from '../analysis/answer/answer'
import { roundPasses } from '../measure/result/rounds'
import type { BenchmarkCase } from '../case'
import type { Result } from '../result'
import type { Row } from '../session/rows'
import type { NoiseFloor } from '../session/types'
import { createRandom, normal } from '../stats/random'
import { testCase, testDevice, testGpu, testSession } from '../testing'
import { answerOf, comparisonSchema, compareSessions, compareWithin, pairRatios, UnknownValueError, type CompareAxis, type ComparedResult, type ComparedSession, type PairRatios } from '.'

const random = createRandom(9)
const results = new Map<string, ComparedResult>()
/** A measured row of 60 samples around `centre`. */
function measured(id: string, c: Partial<BenchmarkCase>, centre: number, more: Partial<Result> = {}): Row {
  const samplesNs = Array.from({ length: 60 }, () => centre * (1 + 0.003 * normal(random)))
  results.set(id, { id, samplesNs, ...more })
  return { id, case: testCase(c), status: 'ok', medianNs: [...samplesNs].sort((a, b) => a - b)[30]! }
}
const gpu = { backend: 'cuda', impl: 'kernel', device: 'cuda:0', threads: undefined }
const floor = (device: string, measuredAt: string): NoiseFloor => ({ backend: device === 'cpu' ? 'cpu' : 'cuda', device, deviceName: device, measuredAt, pairs: 9, falseVerdicts: 0, ratioP50: 0.001, ratioP95: 0.004, sessionId: 's' })
const session = (rows: Row[], noiseFloors: NoiseFloor[] = []): ComparedSession => ({ id: 's', name: 'S', createdAt: '2026-01-01T00:00:00Z', environment: { ...testSession().environment, devices: [testDevice(), testGpu()], noiseFloors }, rows })
const resultOf = (id: string) => results.get(id)!
const within = (rows: Row[], axis: CompareAxis, baseline?: string, pairs?: PairRatios) => comparisonSchema.parse(compareWithin(session(rows), { axis, baseline }, resultOf, pairs ? { pairs } : {}))
/** Values of the sides, and per row which results stand beside each other. */
const shape = ({ sessions, rows }: ReturnType<typeof within>) => [sessions.map(({ value }) => value), rows.map(({ cells }) => cells.map((cell) => cell?.resultId ?? null))]

describe('joins cases that are equal but for', () => {
  const rows = [
    measured('scalar1', { impl: 'scalar', threads: 1 }, 400), measured('avx1', { threads: 1 }, 100), measured('avx4', { threads: 4 }, 40),
    measured('gpu', gpu, 10), measured('gpuCold', { ...gpu, mode: 'cold' }, 15), measured('half', { ...gpu, dtype: 'f16' }, 6), measured('big', { params: { n: 2000 }, threads: 1 }, 200),
  ]

  test('the implementation: any backend, the same threads, a GPU with each thread count', () => {
    const [values, cells] = shape(within(rows, 'impl'))
    expect(values).toEqual(['cpu scalar', 'cpu avx2', 'cuda kernel'])
    expect(cells).toEqual([['scalar1', 'avx1', 'gpu']])
    expect(shape(within(rows, 'impl', 'cuda kernel'))).toEqual([['cuda kernel', 'cpu scalar', 'cpu avx2'], [['gpu', 'scalar1', 'avx1'], ['gpu', null, 'avx4']]])
  })

  test('the implementation, and where these differ in their threads says so', () => {
    const apart = within([measured('one', { impl: 'avx512', threads: 1 }, 10), measured('two', { backend: 'python', impl: 'torch', threads: 2 }, 20)], 'impl')
    expect(apart.rows).toEqual([])
    expect(answerOf(apart, 1).sentence).toBe('python torch and cpu avx512 have no case in common. Implementations are compared at the same number of threads, and here these differ.')
    expect(within(rows.slice(0, 2), 'impl')).not.toHaveProperty('threadsDiffer')
  })

  test('the backend: of each its preferred implementation', () => {
    expect(shape(within(rows, 'backend'))).toEqual([['cpu', 'cuda'], [['avx1', 'gpu'], ['avx4', 'gpu']]])
  })

  test.each([
    ['dtype', ['f32', 'f16'], [['gpu', 'half']]],
    ['mode', ['hot', 'cold'], [['gpu', 'gpuCold']]],
    ['threads', ['1 thread', '4 threads'], [['avx1', 'avx4']]],
  ] as const)('the %s', (axis, values, cells) => expect(shape(within(rows, axis))).toEqual([values, cells]))

  test('what has no partner or no value is listed', () => {
    const { unmatched } = within(rows, 'threads')
    expect(unmatched.filter(({ reason }) => reason === 'It has no threads.')).toHaveLength(3)
    expect(unmatched.filter(({ reason }) => reason === 'No other side has this case.').map(({ case: c }) => [c.impl, c.params['n']])).toEqual([['scalar', 1000], ['avx2', 2000]])
  })

  test('several devices of a backend are told apart', () => {
    expect(within([...rows, measured('second', { ...gpu, device: 'cuda:1' }, 10)], 'backend').sessions.map(({ value }) => value)).toEqual(['cpu', 'cuda:0', 'cuda:1'])
  })

  test('a baseline that is not there is refused with what is', () => {
    expect(() => within(rows, 'dtype', 'bf16')).toThrow(UnknownValueError)
    expect(() => within(rows, 'dtype', 'bf16')).toThrow('“S” has no dtype “bf16”; expected one of f32, f16.')
  })

  test('ratios are to the baseline, wrong results are never ranked', () => {
    const wrong: Row = { id: 'w', case: testCase({ impl: 'sse2', threads: 1 }), status: 'wrong', message: 'Off.', medianNs: 1 }
    const { rows: compared, unmatched, overall } = within([...rows, wrong], 'impl', 'cpu avx2')
    const cells = compared[0]!.cells
    expect(cells.map((cell) => cell?.verdict)).toEqual([undefined, 'slower', 'faster', undefined])
    expect(cells[1]!.speedup).toBeCloseTo(0.25, 2)
    expect(overall[1]!.speedup).toBeCloseTo(0.25, 2)
    expect(unmatched.map(({ reason }) => reason)).toContain('Left out: its result is “wrong”: Off.')
  })
})

describe('repeats', () => {
  const repeated = (prefix: string, centres: number[], more: Partial<BenchmarkCase> = {}) => centres.map((centre, run) => measured(`${prefix}${run}`, more, centre, { run }))

  test('are the unit: runs that differ by more than their samples make a cell unclear', () => {
    const base = repeated('base', [100, 104, 97, 101, 99])
    const compare = (side: Row[]) => compareSessions([session(base), session(side)], resultOf).rows[0]!.cells
    const [first, noisy] = compare(repeated('noisy', [103, 98, 106, 99, 104]))
    expect(noisy!).toMatchObject({ runs: 5, baselineRuns: 5, verdict: 'ambiguous' })
    expect(first!.medianNs).toBeCloseTo(100.2, 0)
    expect(compare(repeated('slow', [150, 156, 149, 151, 148]))[1]!.verdict).toBe('slower')
  })

  test('without a run number the last right result counts alone', () => {
    const cells = compareSessions([session([measured('a', {}, 100)]), session([measured('b', {}, 200), measured('c', {}, 100)])], resultOf).rows[0]!.cells
    expect(cells[1]).toMatchObject({ resultId: 'c', verdict: 'same' })
    expect(cells[1]).not.toHaveProperty('runs')
  })
})

describe('interleaved blocks', () => {
  const [a, b] = [testCase({ impl: 'scalar' }), testCase()]
  const rows = [measured('a', a, 100), measured('b', b, 103)]
  /** Eight quads of side b over side a, on a machine that slows down all the while. */
  const blocks = (ratio: number, quads = 8, turned = false) =>
    Array.from({ length: quads * 4 }, (_, i) => {
      const place = i % 4
      const first = place === 0 || place === 3
      return { case: first === turned ? b : a, status: 'ok' as const, samplesNs: Array.from({ length: 9 }, () => 100 * (first === turned ? ratio : 1) * (1 + i / 100) * (1 + 0.001 * normal(random))), block: { pair: 'p', quad: Math.floor(i / 4), place } }
    })
  const cell = (pairs: PairRatios, baseline = 'cpu scalar') => within(rows, 'impl', baseline, pairs).rows[0]!.cells[1]!

  test('replace the ratio of their pair', () => {
    expect(cell(pairRatios([]))).toMatchObject({ verdict: 'slower' })
    const more = cell(pairRatios([blocks(1)]))
    expect(more).toMatchObject({ resultId: 'b', quads: 8, verdict: 'same' })
    expect(more.speedup).toBeCloseTo(1, 2)
  })

  test('add up over sessions, whichever side was called a', () => {
    const both = pairRatios([blocks(1.05), blocks(1.05, 8, true)])
    expect(cell(both)).toMatchObject({ quads: 16, verdict: 'slower' })
    expect(cell(both).speedup).toBeCloseTo(1 / 1.05, 2)
    expect(cell(both, 'cpu avx2').speedup).toBeCloseTo(1.05, 2)
  })

  test('too few leave the ratio as it was; wrong ones do not count', () => {
    expect(cell(pairRatios([blocks(1, 2)]))).not.toHaveProperty('quads')
    expect(cell(pairRatios([blocks(1).map((block) => ({ ...block, status: 'wrong' as const }))]))).not.toHaveProperty('quads')
  })

  test('are never results of a case', () => {
    const block = measured('block', a, 100, { block: { pair: 'p', quad: 0, place: 0 } })
    const { rows: compared, unmatched } = compareSessions([session([block]), session([measured('whole', a, 100)])], resultOf)
    expect(compared).toEqual([])
    expect(unmatched[0]!.reason).toBe('Left out: it was measured in interleaved blocks only, which count for their pair.')
  })
})

describe('interleaved rounds of a session', () => {
  /**
   * Four passes of two rounds, as Python is measured in a session that was stopped early. In the last two passes the host is 50 times
   * slower, and `side` has more samples there, so that the ratio of medians is far from the speedup.
   */
  const inRounds = (id: string, impl: string, factor: number, group = 7): Row => {
    const numbers = [0, 1, 2, 3, 4, 5, 6, 7]
    const samplesNs = numbers.flatMap((round) => new Array<number>(4).fill(100 * factor * (round < 4 ? 1 : 50)))
    const firstSamples = numbers.map((round) => 4 * round)
    if (id === 'side') samplesNs.push(...new Array<number>(40).fill(5000 * factor))
    const ratio = factor === 1 ? { ratio: 1, low: 1, high: 1 } : { ratio: factor }
    return measured(id, { impl, threads: 1 }, 100, { samplesNs, rounds: { group, numbers, firstSamples, firstRounds: [0, 2, 4, 6], ratio } })
  }
  const rows = [inRounds('base', 'scalar', 1), inRounds('side', 'avx2', 0.25)]

  test('give the speedup of the answer of the session, few as they are, without a verdict that medians would give', () => {
    const cell = within(rows, 'impl', 'cpu scalar').rows[0]!.cells[1]!
    const points = rows.map((row) => ({ case: row.case, medianNs: row.medianNs!, rounds: [roundPasses(results.get(row.id)!)!] }))
    const answer = sessionAnswer(points, undefined, 'cpu/scalar').processors[0]!.means[0]!
    expect(cell).toMatchObject({ quads: 4, speedup: expect.closeTo(4, 6), speedupGrade: 'C', verdict: 'ambiguous' })
    expect(cell.speedup).toBeCloseTo(answer.ratio, 6)
    expect(answer.counts.ambiguous).toBe(1)
    for (const name of ['p', 'speedupLow', 'speedupHigh']) expect(cell).not.toHaveProperty(name)
  })

  test('stand where interleaved blocks of the pair are too few to replace them', () => {
    const blocks = Array.from({ length: 8 }, (_, i) => {
      const place = i % 4
      const first = place === 0 || place === 3
      return { case: rows[first ? 0 : 1]!.case, status: 'ok' as const, samplesNs: [first ? 100 : 200], block: { pair: 'p', quad: Math.floor(i / 4), place } }
    })
    expect(within(rows, 'impl', 'cpu scalar', pairRatios([blocks])).rows[0]!.cells[1]!.speedup).toBeCloseTo(4, 6)
  })

  /** Ten passes of two rounds: passes and implementations differ by some percent. */
  const noisy = (id: string, impl: string, ns: number, group: number, run?: number): Row => {
    const numbers = Array.from({ length: 20 }, (_, i) => i)
    const samplesNs = numbers.flatMap((round) => new Array<number>(4).fill(ns * (1 + 0.2 * (round >> 1) + 0.02 * normal(random))))
    const rounds = { group, numbers, firstSamples: numbers.map((round) => 4 * round), firstRounds: numbers.filter((round) => round % 2 === 0) }
    const row = measured(id, { impl, threads: 1 }, ns, { samplesNs, rounds, ...(run === undefined ? {} : { run }) })
    return { ...row, rounds: [roundPasses(results.get(id)!)!], ...(run === undefined ? {} : { run }) }
  }
  const inAnswer = (all: readonly Row[], impl: string, over: string) =>
    sessionAnswer(all.map((row) => ({ ...row, medianNs: row.medianNs! })), undefined, `cpu/${over}`).processors[0]!.means.find(({ implementation }) => implementation.impl === impl)!
  const inCompare = (all: Row[], impl: string, over: string) => {
    const { sessions, rows: [row] } = within(all, 'impl', `cpu ${over}`)
    const { speedup: ratio, speedupLow: low, speedupHigh: high } = row!.cells[sessions.findIndex(({ value }) => value === `cpu ${impl}`)]!
    return { ratio, low, high }
  }

  test.each([['avx2', 'scalar'], ['avx512', 'avx2'], ['scalar', 'avx512']])('give %s over %s the same number and interval in the answer and here', (impl, over) => {
    const all = [noisy('n1', 'scalar', 400, 5), noisy('n2', 'avx2', 100, 5), noisy('n3', 'avx512', 90, 5)]
    const { ratio, low, high } = inCompare(all, impl, over)
    expect(inAnswer(all, impl, over)).toMatchObject({ ratio: expect.closeTo(ratio!, 12), low: expect.closeTo(low!, 12), high: expect.closeTo(high!, 12) })
  })

  test('of repeated runs count with all runs in the answer too', () => {
    const all = [0, 1, 2, 3].flatMap((run) => [noisy(`s${run}`, 'scalar', 400, run, run), noisy(`v${run}`, 'avx2', 100 + 10 * run, run, run)])
    const { ratio, low, high } = inCompare(all, 'avx2', 'scalar')
    expect(ratio).toBeCloseTo(400 / 115, 1)
    expect(inAnswer(all, 'avx2', 'scalar')).toMatchObject({ ratio: expect.closeTo(ratio!, 12), low: expect.closeTo(low!, 12), high: expect.closeTo(high!, 12) })
  })

  test('of other groups are not paired', () => {
    const other = inRounds('apart', 'sse2', 0.25, 8)
    expect(within([rows[0]!, other], 'impl', 'cpu scalar').rows[0]!.cells[1]).not.toHaveProperty('quads')
  })
})

test('of a case measured in several runs the answer has the speedup that is given here', () => {
  const rows = [0, 1, 2, 3].flatMap((run) => [['scalar', 400], ['avx2', 100 + 10 * run]].map(([impl, ns]) => ({ ...measured(`${impl} ${run}`, { impl: String(impl), threads: 1 }, Number(ns), { run }), run })))
  const [cell] = within(rows, 'impl', 'cpu scalar').rows[0]!.cells.slice(1)
  const [mean] = sessionAnswer(rows.map((row) => ({ ...row, medianNs: row.medianNs! })), undefined, 'cpu/scalar').processors[0]!.means
  expect(cell).toMatchObject({ runs: 4, baselineRuns: 4, speedup: expect.closeTo(400 / 115, 1) })
  expect(mean!.ratio).toBeCloseTo(cell!.speedup!, 2)
})

describe('clocks and labels', () => {
  const clocked = (id: string, centre: number, mhz: number, more: Partial<BenchmarkCase> = {}) => measured(id, { ...gpu, ...more }, centre, { clocksMhz: new Array<number>(60).fill(mhz) })

  test('slower by its clock alone is unclear, with both ratios', () => {
    const low = compareSessions([session([clocked('fast', 100, 1980)]), session([clocked('throttled', 110, 1800)])], resultOf).rows[0]!.cells[1]!
    expect(low).toMatchObject({ verdict: 'ambiguous' })
    expect(low.doubt).toMatch(/^Slower in time \(speedup 0\.\d+x\) but same in SM cycles \([01]\.\d+x\): the clock was 1800 MHz here and 1980 MHz/)
    expect(low.cyclesSpeedup).toBeCloseTo(1, 1)
  })

  test('cycles of different devices are not compared', () => {
    const other = session([clocked('other', 110, 1800)])
    other.environment = { ...other.environment, devices: [testGpu({ name: 'Another GPU' })] }
    expect(compareSessions([session([clocked('one', 100, 1980)]), other], resultOf).rows[0]!.cells[1]).not.toHaveProperty('cyclesSpeedup')
  })

  test('samples that carry a label do not count', () => {
    const row = measured('labelled', {}, 100)
    const known = results.get('labelled')!
    results.set('labelled', { ...known, samplesNs: known.samplesNs.map((ns, i) => (i < 29 ? ns * 3 : ns)), labels: [{ kind: 'throttled', reason: 'power limit', first: 0, count: 29 }] })
    expect(compareSessions([session([measured('clean', {}, 100)]), session([row])], resultOf).rows[0]!.cells[1]!.verdict).toBe('same')
  })
})

test('the newest noise floor of each device compared is named', () => {
  const rows = [measured('n1', {}, 100), measured('n2', { impl: 'scalar' }, 100)]
  const { noiseFloors, threshold } = compareWithin(session(rows, [floor('cpu', '2026-01-01'), floor('cpu', '2026-03-01'), floor('cuda:0', '2026-04-01')]), { axis: 'impl' }, resultOf, { threshold: 0.02 })
  expect(noiseFloors.map(({ device, measuredAt }) => [device, measuredAt])).toEqual([['cpu', '2026-03-01']])
  expect(threshold).toBe(0.02)
})

test('along the device, two cards of one machine or of two are held against each other with what differs between them told', () => {
  const cards = [['cuda:0', '700 W'], ['cuda:1', '500 W'], ['node7/cuda:0', '700 W']] as const
  const devices = [testDevice(), ...cards.map(([id, limit]) => testGpu({ id, facts: [{ name: 'UUID', value: id }, { name: 'Power limit', value: limit }] }))]
  const rows = [measured('c', {}, 50), ...cards.map(([device], i) => measured(device, { ...gpu, device }, 100 + 20 * i))]
  const of = { ...session(rows), environment: { ...testSession().environment, devices, machines: [{ name: 'node7', facts: (({ devices: _, ...facts }) => ({ ...facts, kernel: '6.9' }))(testSession().environment) }] } }
  const comparison = comparisonSchema.parse(compareWithin(of, { axis: 'device' }, resultOf))
  expect(shape(comparison)).toEqual([['cuda:0', 'cuda:1', 'node7/cuda:0'], [['cuda:0', 'cuda:1', 'node7/cuda:0']]])
  expect(comparison.rows[0]!.cells.map((cell) => cell?.verdict)).toEqual([undefined, 'slower', 'slower'])
  expect(comparison.environmentDifferences).toEqual(['Power limit of Test GPU: 700 W in “cuda:0”, 500 W in “cuda:1”.', expect.stringContaining('6.9 in “node7/cuda:0”')])
  expect(comparison.unmatched).toMatchObject([{ reason: 'The session has no other device of its backend.' }])
  expect(comparison.cards).toMatchObject([{ model: 'Test GPU', meanNs: expect.closeTo(120, 0), cards: [{ device: 'cuda:0' }, { device: 'cuda:1' }, { machine: 'node7' }] }])
  const here = compareWithin(of, { axis: 'device' }, resultOf, { filter: { host: ['this machine'] } })
  expect([here.sessions.length, here.cards!.map(({ cards: of }) => of.length)]).toEqual([2, [2]])
  expect(compareWithin(of, { axis: 'impl' }, resultOf).cards).toBeUndefined()
})

test('the energy of a call is compared where both sides have it, by the same threshold', () => {
  const energy = (joulesPerCall: number): Result['energy'] => ({ joulesPerCall, lowJ: joulesPerCall * 0.995, highJ: joulesPerCall * 1.005, windows: 5, seconds: 10, calls: 1000, watts: 300, source: 'NVML total energy' })
  const rows = [measured('e1', gpu, 10, { energy: energy(0.1602) }), measured('e2', { ...gpu, impl: 'cublaslt' }, 10, { energy: energy(0.1457) }), measured('e3', { ...gpu, impl: 'cudnn' }, 10)]
  const { rows: [row] } = within(rows, 'impl')
  expect(row!.cells.map((cell) => cell?.joulesPerCall)).toEqual([0.1602, 0.1457, undefined])
  expect(row!.cells[1]!.energy).toMatchObject({ verdict: 'less', ratio: expect.closeTo(0.9095, 4) })
  expect(row!.cells[1]!.verdict).toBe('same')
  expect(row!.cells[2]).not.toHaveProperty('energy')
})
