import { describe, expect, it } from 'vitest'
import type { BenchmarkCase } from '../../case'
import type { KnownCeiling } from '../../roofline/ceilings'
import type { Row } from '../../session/rows'
import { testCase, testDevice, testResult, testSession } from '../../testing'
import { advise, adviseSession, findingSchema, RULES, type AdviceInput, type Finding, type ResultDetails } from '.'

const ceiling = (kind: string, value: number, unit: KnownCeiling['unit'] = 'bytes/s'): KnownCeiling => ({ backend: 'cpu', device: 'cpu', deviceName: 'Test CPU', kind, value, unit, measuredAt: '', result: testResult() })
/** 100 GB/s, 1 TFLOP/s, 1 µs for a launch. */
const CEILINGS = [ceiling('copy', 1e11), ceiling('flops:f32', 1e12, 'FLOP/s'), ceiling('launch:hot', 1e-6, 's'), ceiling('launch:cold', 2e-6, 's')]

let next = 0
/** A row with an interval of ±1 %. */
const row = (c: Partial<BenchmarkCase>, medianNs: number, change: Partial<Row> = {}): Row => ({ id: `r${next++}`, case: testCase(c), status: 'ok', medianNs, ciLowNs: medianNs * 0.99, ciHighNs: medianNs * 1.01, samples: 40, bytes: 0, flops: 0, ...change })

const only = (rule: string, input: Partial<AdviceInput> & { rows: Row[] }): Finding[] => {
  const found = advise({ ceilings: CEILINGS, ...input })
  for (const finding of found) findingSchema.parse(finding)
  return found.filter((finding) => finding.rule === rule)
}
const details = (rows: readonly Row[], of: Partial<ResultDetails>) => new Map(rows.map(({ id }): [string, ResultDetails] => [id, { taken: 40, ...of }]))

describe('far from a roof', () => {
  it('says at which share of the copy rate a case stands, and what that is worth', () => {
    // 10 MB at 100 GB/s take 100 µs.
    const slow = row({ params: { n: 2_500_000 } }, 322_580, { bytes: 1e7, flops: 1e3 })
    const [finding] = only('memory-bound', { rows: [slow] })
    expect(finding).toMatchObject({ severity: 'warning', rows: [slow.id] })
    expect(finding!.sentence).toBe('add 2.5M f32 hot on cpu avx2, 1 thread is memory bound at 31.0 % of the measured copy bandwidth: up to 3.23x faster is possible.')
    expect(finding!.gain!.factor).toBeCloseTo(3.2258)
    expect(finding!.gain!.savedNs).toBeCloseTo(222_580)
    expect(finding!.evidence).toContainEqual({ name: 'Measured copy bandwidth', value: '100 GB/s' })
  })
  it('names the cache whose bandwidth is the limit', () => {
    const l2 = { ...ceiling('cache:L2', 1e12), result: testResult({ case: testCase({ op: 'stream_copy', params: { n: 2 ** 18 } }) }) }
    const [finding] = only('memory-bound', { rows: [row({ params: { n: 100_000 } }, 4800, { bytes: 1.2e6, flops: 1 })], ceilings: [...CEILINGS, l2] })
    expect(finding).toMatchObject({ title: 'Low share of L2 bandwidth', sentence: expect.stringContaining('at 25.0 % of the measured L2 bandwidth: up to 4.00x') as string })
    expect(finding!.evidence).toContainEqual({ name: 'Measured L2 bandwidth', value: '1.00 TB/s' })
  })
  it('joins the sizes of a series, the most time first, and is silent from 60 % on', () => {
    const rows = [row({ params: { n: 1000 } }, 250_000, { bytes: 1e7, flops: 1 }), row({ params: { n: 4000 } }, 1e6, { bytes: 4e7, flops: 1 }), row({ params: { n: 8000 } }, 800_000 / 0.6, { bytes: 8e7, flops: 1 })]
    const [finding, ...rest] = only('memory-bound', { rows })
    expect(rest).toEqual([])
    expect(finding!.rows).toEqual([rows[1]!.id, rows[0]!.id])
    expect(finding!.sentence).toMatch(/ The same holds for 1 other case of add\.$/)
  })
  it('is silent without ceilings, above the roof, and about wrong results', () => {
    const slow = row({}, 1e6, { bytes: 1e7, flops: 1 })
    expect(only('memory-bound', { rows: [slow], ceilings: [] })).toEqual([])
    expect(only('memory-bound', { rows: [row({}, 50_000, { bytes: 1e7, flops: 1 })] })).toEqual([])
    expect(only('memory-bound', { rows: [{ ...slow, status: 'wrong' }] })).toEqual([])
  })
  it('tells compute from memory', () => {
    const matmul = (ns: number) => row({ op: 'matmul', params: { m: 512, n: 512, k: 512 } }, ns, { bytes: 3e6, flops: 1e9 })
    const rows = [matmul(5e6)]
    expect(only('memory-bound', { rows })).toEqual([])
    expect(only('compute-bound', { rows })[0]).toMatchObject({ severity: 'warning', sentence: expect.stringContaining('at 20.0 % of the measured peak: up to 5.00x') as string })
    expect(only('compute-bound', { rows: [matmul(1.9e6)] })).toEqual([])
  })
})

describe('mostly launch', () => {
  const small = (medianNs: number, c: Partial<BenchmarkCase> = {}) => row({ params: { n: 100 }, ...c }, medianNs, { bytes: 1200, flops: 100 })
  it('gives the share of the launch and the way out', () => {
    const [fuse] = only('latency-bound', { rows: [small(1250)] })
    expect(fuse!.sentence).toContain('launch overhead is 80.0 % of its time. Fuse it with neighbouring calls, or give each call more work (up to 5.00x faster)')
    const [graph] = only('latency-bound', { rows: [small(1250)], ceilings: [...CEILINGS, ceiling('launch:graph', 2.5e-7, 's')] })
    expect(graph!.sentence).toContain('Put calls into a CUDA graph, or fuse them (up to 2.50x faster)')
    expect(graph!.evidence).toHaveLength(3)
  })
  it('needs a measured launch that is at least half of the time', () => {
    expect(only('latency-bound', { rows: [small(2100)] })).toEqual([])
    expect(only('latency-bound', { rows: [small(1250)], ceilings: CEILINGS.slice(0, 2) })).toEqual([])
  })
  it('never promises more than the roofs allow', () => {
    const big = row({}, 1050, { bytes: 9e4, flops: 100 })
    expect(only('latency-bound', { rows: [big] })[0]!.gain!.factor).toBeCloseTo(1050 / 900)
  })
})

describe('slower than its neighbour sizes', () => {
  const series = (...times: number[]) => times.map((ns, i) => row({ params: { n: 1000 * 2 ** i } }, ns, { bytes: 12_000 * 2 ** i }))
  it('finds a size whose cost per byte is above that of both neighbours', () => {
    const rows = series(1000, 2000, 6000, 8000)
    const [finding, ...rest] = only('off-trend', { rows, ceilings: [] })
    expect(rest).toEqual([])
    expect(finding!.rows).toEqual([rows[2]!.id])
    expect(finding!.sentence).toMatch(/^add 4000 f32 hot on cpu avx2, 1 thread takes 50\.0 % longer than the sizes on both sides suggest/)
    expect(finding!.gain!.factor).toBeCloseTo(1.5)
  })
  it('takes neither the end of a cache, nor launches, nor 9 %, nor wide intervals for one', () => {
    expect(only('off-trend', { rows: series(1000, 2000, 12_000, 24_000, 48_000), ceilings: [] })).toEqual([])
    expect(only('off-trend', { rows: series(1000, 1010, 1050, 2000, 4000), ceilings: [] })).toEqual([])
    expect(only('off-trend', { rows: series(1000, 2000, 4360, 8000), ceilings: [] })).toEqual([])
    const unsure = series(1000, 2000, 6000, 8000).map((one) => ({ ...one, ciLowNs: one.medianNs! * 0.6, ciHighNs: one.medianNs! * 1.4 }))
    expect(only('off-trend', { rows: unsure, ceilings: [] })).toEqual([])
  })
  it('takes no cache boundary for a problem where the cache sizes are known', () => {
    // 8 MiB of cache between the working sets: 3 MB in the cache, 12 MB costs most per byte, 48 MB costs a little less.
    const rows = (mode: BenchmarkCase['mode']) => [[250_000, 1e5], [1e6, 1e6], [4e6, 3e6]].map(([n, ns]) => row({ params: { n: n! }, mode }, ns!, { bytes: 12 * n! }))
    const environment = { devices: [testDevice({ caches: [{ name: 'L2', bytes: 2 ** 23 }, { name: 'L3', bytes: 2 ** 30 }] })] }
    expect(only('off-trend', { rows: rows('hot'), ceilings: [] })).toHaveLength(1)
    expect(only('off-trend', { rows: rows('hot'), ceilings: [], environment })).toEqual([])
    // A cold call can find data in the last-level cache only, a rotated call in none.
    expect(only('off-trend', { rows: rows('cold'), ceilings: [], environment })).toHaveLength(1)
    expect(only('off-trend', { rows: rows('rotated'), ceilings: [], environment: { devices: [testDevice({ caches: [{ name: 'L2', bytes: 2 ** 23 }] })] } })).toHaveLength(1)
  })
  it('joins rows of one implementation with one cause, the most time first, and names the operations', () => {
    const of = (op: string, dtype: 'f32' | 'bf16', scale: number) => [1000, 2000, 6000, 8000].map((ns, i) => row({ op, dtype, params: { n: 1000 * 2 ** i } }, ns * scale, { bytes: 12_000 * 2 ** i }))
    const rows = [...of('add', 'f32', 1), ...of('add', 'bf16', 3), ...of('exp', 'f32', 2)]
    const [finding, ...rest] = only('off-trend', { rows, ceilings: [] })
    expect(rest).toEqual([])
    expect(finding!.rows).toEqual([rows[6]!.id, rows[10]!.id, rows[2]!.id])
    expect(finding!.sentence).toMatch(/ The same holds for 2 other cases of exp, add\.$/)
    expect(finding!.gain!.savedNs).toBeCloseTo(2000 * (1 + 2 + 3))
  })
  it('compares shapes only along one extent or in proportion, and names a stride that shares sets', () => {
    const matrix = (rows: number, cols: number, ns: number) => row({ op: 'softmax', params: { rows, cols } }, ns, { bytes: 8 * rows * cols })
    // 64x16 costs more per byte than 32x32 and 32x64, which lie beside it in size only.
    expect(only('off-trend', { rows: [matrix(32, 16, 512), matrix(64, 16, 4000), matrix(32, 64, 2048)], ceilings: [] })).toEqual([])
    const [finding] = only('off-trend', { rows: [matrix(1024, 960, 960), matrix(1024, 1024, 2048), matrix(1024, 1088, 1088)], ceilings: [] })
    expect(finding!.sentence).toContain('row stride is a multiple of 4096 bytes')
  })
})

describe('cold against hot', () => {
  const pair = (cold: number, hot: number, bytes = 1e5) => [row({ mode: 'cold' }, cold, { bytes, flops: 1 }), row({ mode: 'hot' }, hot, { bytes, flops: 1 })]
  it('fires where neither memory nor launch explains it', () => {
    const rows = pair(9000, 1500)
    expect(only('cold-hot', { rows })[0]).toMatchObject({ rows: [rows[0]!.id], sentence: expect.stringContaining('takes 6.00x') as string })
  })
  it('is silent at less than four times, where memory explains it, and where the launch does', () => {
    expect(only('cold-hot', { rows: pair(6000, 1510) })).toEqual([])
    expect(only('cold-hot', { rows: pair(1900, 300) })).toEqual([])
    expect(only('cold-hot', { rows: pair(3900, 500, 1e4) })).toEqual([])
  })
})

describe('samples that cannot be trusted', () => {
  it('finds scatter by the median deviation, and by a tail that the median does not show', () => {
    const noisy = row({}, 1000, { madNs: 80 })
    const tail = row({ params: { n: 2000 } }, 1000, { madNs: 10, meanNs: 12_089, stddevNs: 4141 })
    const [finding] = only('high-variance', { rows: [noisy, tail, row({ params: { n: 3000 } }, 1000, { madNs: 50, meanNs: 1000, stddevNs: 250 })] })
    expect(finding!.rows).toEqual([tail.id, noisy.id])
    expect(finding!.sentence).toContain('the standard deviation is 34.3 % of the mean')
  })
  it('finds throttled samples by their labels, not a tenth of them', () => {
    const rows = [row({}, 1000)]
    const label = (count: number) => ({ labels: [{ kind: 'throttled' as const, reason: 'power limit', first: 0, count }] })
    expect(only('disturbed', { rows, details: details(rows, label(4)) })).toEqual([])
    expect(only('disturbed', { rows, details: details(rows, label(20)) })[0]!.sentence).toContain('throttled (power limit) in 20 of 40 samples. Cool the device')
  })
  it('finds what did not converge and what the wall clock timed, and takes no detail for granted', () => {
    const rows = [row({}, 1000), row({ params: { n: 9 } }, 10, { ciLowNs: 5, ciHighNs: 15 })]
    const input = { rows, details: details(rows, { converged: false, stopReason: 'time is up', timer: 'wall-clock' }) }
    expect(only('not-converged', input)[0]).toMatchObject({ rows: [rows[1]!.id, rows[0]!.id], evidence: [{ value: 'time is up' }, { value: '±50.0 %' }] })
    expect(only('wall-clock', input)[0]!.rows).toEqual([rows[1]!.id, rows[0]!.id])
    expect([...only('not-converged', { rows }), ...only('wall-clock', { rows })]).toEqual([])
    const fine = { rows, details: details(rows, { converged: true, timer: 'steady-clock' }) }
    expect([...only('not-converged', fine), ...only('wall-clock', fine)]).toEqual([])
  })
  it('joins failures of one kind, keeps their message, and leaves skipped cases alone', () => {
    const bad = { medianNs: undefined }
    const rows = [row({}, 0, { ...bad, status: 'crashed', message: 'The process died.' }), row({ params: { n: 9 } }, 0, { ...bad, status: 'crashed' }), row({ impl: 'scalar' }, 0, { ...bad, status: 'wrong', message: 'Off by 3.' }), row({}, 0, { ...bad, status: 'skipped', message: 'No kernel.' })]
    expect(only('not-right', { rows }).map(({ rows: ids, severity }) => [ids.length, severity])).toEqual([[2, 'problem'], [1, 'problem']])
    expect(only('not-right', { rows })[0]!.sentence).toMatch(/and 1 other such case crashed: The process died\.$/)
  })
})

describe('implementations of one device', () => {
  const rivals = (avx2: number, scalar: number, c: Partial<BenchmarkCase> = {}) => [row({ impl: 'avx2' }, avx2), row({ impl: 'scalar', ...c }, scalar)]
  const floor = { backend: 'cpu', device: 'cpu', deviceName: 'Test CPU', measuredAt: '', pairs: 24, falseVerdicts: 0, ratioP50: 0.01, ratioP95: 0.06, sessionId: 's' }
  it('names the faster one with its interval', () => {
    const rows = rivals(1000, 3000)
    expect(only('faster-implementation', { rows })[0]).toMatchObject({ rows: [rows[1]!.id], sentence: expect.stringMatching(/^avx2 is 3\.00x faster than scalar here \(95 % CI 2\.9\dx to 3\.0\dx\): add 1000 f32 hot on cpu scalar, 1 thread\.$/) as string })
  })
  it('does not compare across threads, devices or modes, nor fire at 10 %', () => {
    // One cause, one finding: modes are joined, never compared with each other.
    const both = [...rivals(1000, 3000), ...rivals(1000, 2000, { mode: 'cold' }), row({ mode: 'cold' }, 900)]
    expect(only('faster-implementation', { rows: both }).map(({ rows: ids }) => ids.length)).toEqual([2])
    for (const rows of [rivals(1000, 1100), rivals(1000, 3000, { threads: 2 }), rivals(1000, 3000, { mode: 'cold' }), rivals(1000, 3000, { device: 'cpu:1' })]) expect(only('faster-implementation', { rows })).toEqual([])
  })
  it('compares the middle of repeated measurements, and says nothing where they overlap', () => {
    const again = (avx2: number[], scalar: number[]) => [...avx2.map((ns) => row({ impl: 'avx2' }, ns)), ...scalar.map((ns) => row({ impl: 'scalar' }, ns))]
    // Blocks of ABBA quads: now and then one is disturbed.
    expect(only('faster-implementation', { rows: again([1000, 1010, 700, 1005], [990, 3000, 1004, 1001]) })).toEqual([])
    const clear = again([1000, 1010, 1005], [3000, 3100, 2900])
    expect(only('faster-implementation', { rows: clear })).toEqual([expect.objectContaining({ rows: [clear[3]!.id], sentence: expect.stringMatching(/^avx2 is 2\.99x faster than scalar here/) as string })])
  })
  it('warns of differences that look certain and lie below the noise floor', () => {
    const rows = rivals(1000, 1040)
    expect(only('noise-floor', { rows, environment: { devices: [], noiseFloors: [floor] } })[0]!.rows.sort()).toEqual(rows.map(({ id }) => id).sort())
    expect(only('noise-floor', { rows })).toEqual([])
    expect(only('noise-floor', { rows: rivals(1000, 1005), environment: { devices: [], noiseFloors: [floor] } })).toEqual([])
    expect(only('noise-floor', { rows: rivals(1000, 1070), environment: { devices: [], noiseFloors: [floor] } })).toEqual([])
  })
})

describe('all rules', () => {
  it('have ids and titles of their own', () => {
    expect(new Set(RULES.flatMap(({ id, title }) => [id, title])).size).toBe(2 * RULES.length)
  })
  it('rank what spoils figures first, then by the time to be saved', () => {
    const rows = [row({ op: 'copy' }, 2e5, { bytes: 1e7, flops: 1 }), row({}, 2e7, { bytes: 1e9, flops: 1 }), row({ op: 'exp' }, 1000, { madNs: 100 }), row({ op: 'sum' }, 0, { status: 'wrong', medianNs: undefined })]
    expect(advise({ rows, ceilings: CEILINGS }).map(({ rule, rows: [id] }) => [rule, id])).toEqual([['not-right', rows[3]!.id], ['memory-bound', rows[1]!.id], ['memory-bound', rows[0]!.id], ['high-variance', rows[2]!.id]])
  })
  it('find nothing in a clean session, and read what rows lack from its results', () => {
    expect(adviseSession(testSession(), [])).toEqual([])
    expect(adviseSession(testSession([testResult({ converged: false, stopReason: 'time is up' })]), [])).toMatchObject([{ rule: 'not-converged', rows: ['r1'] }])
  })
})
