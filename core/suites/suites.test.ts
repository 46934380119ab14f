import { describe, expect, it } from 'vitest'
import type { Device } from '../backend'
import { RATINGS } from '../analysis/ratings'
import { OPS } from '../ops/registry'
import { planSweep } from '../sweep/plan'
import { testCase, testDevice, testGpu, testResult } from '../testing'
import { suitePlan, SUITES, findSuite } from './index'
import { matchesFacets, readFacets } from './facets'
import { choicesOf, narrowingText, selectionWithout, type LeftOut } from './narrow'
import { suiteReport, suiteResults } from './report'
import { suiteFigure } from './report/figure'

/** A device that has every operation. */
const kernels = Object.fromEntries(OPS.map(({ id }) => [id, ['f32' as const, 'f16' as const]]))
const impl = (id: string, preferred = false) => ({ id, title: id, available: { ok: true as const }, kernels, preferred })
const cpu = testDevice({ impls: [impl('scalar'), impl('sse2'), impl('avx2', true)] })
const gpu = testGpu({ impls: [impl('kernel', true)] })
const python = (id: string): Device => testDevice({ backend: 'python', id: `python:${id}`, name: `Python on ${id}`, impls: [impl('numpy'), impl('torch')], threads: id === 'cpu' ? [1, 4] : [] })

describe('every suite', () => {
  it('names operations, sizes and a rating that exist', () => {
    expect(SUITES.map(({ id }) => id).sort()).toEqual(['comprehensive', 'genesis', 'performance-guide', 'tenflowers', 'transformer-block', 'trueno'])
    for (const suite of SUITES) {
      expect(RATINGS.map(({ id }) => id)).toContain(suite.rating)
      for (const quick of [true, false]) {
        const plan = planSweep(suitePlan(suite, [cpu, python('cpu')], quick).spec, [cpu, python('cpu')])
        expect([suite.id, quick, plan.problems]).toEqual([suite.id, quick, []])
        expect(plan.cases.length).toBeGreaterThan(10)
      }
      expect(suite.full.ops.length).toBe(suite.quick.ops.length)
    }
  })

  it('measures its published figures', () => {
    for (const suite of SUITES) for (const { find } of suite.published) {
      const { spec } = suitePlan(suite, [cpu, gpu, python('cpu')])
      const { cases } = planSweep(spec, [cpu, gpu, python('cpu')])
      expect(cases.some((c) => c.op === find.op && Object.entries(find.params).every(([name, value]) => c.params[name] === value)), `${suite.id} ${find.op}`).toBe(true)
    }
  })
})

describe('a suite on this machine', () => {
  const targets = (id: string, devices: Device[]) => suitePlan(findSuite(id)!, devices).spec.targets.map(({ device, impls, threads }) => [device, impls.join(' '), threads])

  it('takes the GPU and its Python where there is one, every SIMD level on one thread, or both processors', () => {
    const all = [cpu, gpu, python('cpu'), python('cuda:0')]
    expect(targets('genesis', all)).toEqual([['cuda:0', 'kernel', undefined], ['python:cuda:0', 'torch', undefined]])
    expect(targets('genesis', [cpu, python('cpu')])).toEqual([['cpu', 'avx2', [4]], ['python:cpu', 'torch', [4]]])
    expect(targets('trueno', all)).toEqual([['cpu', 'scalar sse2 avx2', [1]], ['python:cpu', 'numpy torch', [1]]])
    expect(targets('tenflowers', all).map(([device]) => device)).toEqual(['cpu', 'cuda:0', 'python:cpu', 'python:cuda:0'])
  })

  it('says what is missing and why, and runs the rest', () => {
    const absent = testGpu({ available: { ok: false, reason: 'there is no NVIDIA driver' } })
    const few = testDevice({ impls: [{ ...impl('avx2', true), kernels: { add: ['f32'], softmax: ['f32'] } }] })
    const { spec, missing } = suitePlan(findSuite('genesis')!, [few, absent])
    expect(spec.ops.map(({ op }) => op)).toEqual(['add', 'softmax'])
    expect(missing).toEqual(['Test GPU: there is no NVIDIA driver', 'PyTorch: no Python with it is available, so there are no speedups over it', expect.stringMatching(/^not implemented here: mul, div, /)])
  })
})

describe('a part of a suite', () => {
  const part = (id: string, leftOut: LeftOut, devices: Device[] = [cpu, gpu, python('cpu'), python('cuda:0')]) => {
    const suite = findSuite(id)!
    const choices = choicesOf(suite, suite.full)
    const { selection, problem } = selectionWithout(choices, leftOut)
    return { problem, text: narrowingText(choices, leftOut), ...suitePlan(suite, devices, false, selection) }
  }

  it('has just the products of the batches, sequences and dimensions that stay', () => {
    const { grid } = findSuite('comprehensive')!.full
    const filter = { batch: [16], sequence: [256, 512], dimension: [768] }
    const leftOut = Object.fromEntries(Object.entries(filter).map(([facet, values]) => [facet, grid![facet as 'batch'].filter((value) => !values.includes(value)).map(String)]))
    const { spec, text } = part('comprehensive', leftOut, [cpu])
    const all = planSweep(suitePlan(findSuite('comprehensive')!, [cpu]).spec, [cpu]).cases
    expect(planSweep(spec, [cpu]).cases).toEqual(all.filter((c) => matchesFacets(c, grid!, filter)))
    expect([spec.grid, text]).toEqual([filter, 'batch 16; sequence 256, 512; dimension 768'])
  })

  it('is on one processor of a suite of both, and says nothing of the other', () => {
    const absent = testGpu({ id: 'cuda:1', available: { ok: false, reason: 'no driver' } })
    const { spec, missing } = part('tenflowers', { processor: ['gpu'] }, [cpu, gpu, absent, python('cpu'), python('cuda:0')])
    expect([spec.targets.map(({ device }) => device), missing]).toEqual([['cpu', 'python:cpu'], []])
  })

  it('is of some operations, classes of sizes and dtypes; with none of them it is nothing to measure', () => {
    const { spec } = part('genesis', { classes: ['medium', 'large', 'batch'], dtypes: ['f32'], ops: findSuite('genesis')!.full.ops.map(({ op }) => op).filter((op) => op !== 'add') })
    expect([spec.ops, spec.dtypes]).toEqual([[{ op: 'add', sizes: '1048576' }], ['f16']])
    expect(part('genesis', { dtypes: ['f32', 'f16'] }).problem).toBe('Dtype: pick at least one')
    expect(choicesOf(findSuite('transformer-block')!, findSuite('transformer-block')!.quick)).toEqual([])
  })
})

describe('a suite\'s report', () => {
  const timed = (id: string, change: Parameters<typeof testCase>[0], medianNs: number, more: Parameters<typeof testResult>[0] = {}) =>
    testResult({ id, case: testCase(change), summary: { count: 3, medianNs, meanNs: medianNs, stddevNs: medianNs / 100, ciLowNs: medianNs * 0.99, ciHighNs: medianNs * 1.01 }, ...more })
  const numpy = { backend: 'python', impl: 'numpy', device: 'python:cpu' } as const
  const part = (id: string, results: ReturnType<typeof timed>[], title: string) => suiteReport(findSuite(id)!, suiteResults(results), { ceilings: [] }).find((one) => one.title === title)!

  it('counts the success rule, and has a row for each operation with a link to each result', () => {
    const results = [timed('a', { impl: 'scalar' }, 240), timed('b', {}, 60), timed('n', numpy, 120)]
    expect(part('trueno', results, 'Summary').text).toBe('3 of 3 results passed verification and were measured. By the fastest implementation of each operation and size: 1 of 1 (100 %) faster than NumPy or at most 20 % slower: success rule (at least 80 %) met. Not rated: 1 by slower implementations, 1 of NumPy itself.')
    expect(part('trueno', results, 'Summary').table!.rows.map((row) => row.map((cell) => cell.text))).toEqual([['scalar', '1', '0.500x', '0.500x', '0.500x'], ['avx2', '1', '2.000x', '2.000x', '2.000x']])
    // The slow level does not count where a faster one would be dispatched, and NumPy does not count at all.
    expect(part('trueno', [timed('s', {}, 300), timed('n', numpy, 120)], 'Summary').text).toContain('0 of 1 (0 %) faster than NumPy or at most 20 % slower: success rule (at least 80 %) not met.')
    expect(part('trueno', results, 'Times').text).toBe('Mean ± standard deviation, speedup over NumPy, rating.')
    expect(part('trueno', results.slice(0, 2), 'Times').text).toBe('Mean ± standard deviation.')
    expect(part('trueno', results, 'Times').table!.rows[0]!.map(({ result }) => result)).toEqual([undefined, undefined, undefined, 'a', 'b', 'n'])
  })

  it('has the speedups of interleaved rounds where there are some, as the answer of the session has', () => {
    const inRounds = (id: string, change: Parameters<typeof testCase>[0], medianNs: number, ratio: number) => timed(id, change, medianNs, { samplesNs: [100 * ratio, 100 * ratio], rounds: { group: 0, numbers: [0, 1], firstSamples: [0, 1], firstRounds: [0] } })
    // NumPy's median is that of a busy host: 20 times that of avx2, of which it is half as fast in the same rounds.
    const results = [inRounds('b', {}, 60, 1), inRounds('n', numpy, 1200, 2)]
    expect(part('trueno', results, 'Summary').table!.rows.map((row) => row.map((cell) => cell.text))).toEqual([['avx2', '1', '2.000x', '2.000x', '2.000x']])
    expect(part('trueno', results, 'Summary').text).toContain('1 of 1 (100 %) faster than NumPy')
    const torch = { backend: 'python', impl: 'torch', device: 'python:cpu' } as const
    expect(part('comprehensive', [inRounds('b', {}, 60, 1), inRounds('t', torch, 1200, 1.5)], 'Fastest implementation').table!.rows[0]!.at(-1)!).toMatchObject({ text: '1.500x', note: 'unclear' })
  })

  it('is drawn as speedups over the library, or as times without it, by operation where there are too many rows', () => {
    const figure = (results: ReturnType<typeof timed>[]) => suiteFigure(findSuite('trueno')!, suiteResults(results), [])
    const results = [timed('a', { impl: 'scalar' }, 240), timed('b', {}, 60), timed('n', numpy, 120)]
    expect(figure(results)).toMatchObject({ quantity: 'ratio', impls: [{ name: 'scalar' }, { name: 'avx2' }], rows: [{ label: 'add 1000', dots: [{ impl: 'scalar', value: 0.5 }, { impl: 'avx2', value: 2 }] }] })
    expect(figure(results.slice(0, 2))).toMatchObject({ quantity: 'time', rows: [{ dots: [{ value: 240, low: 237.6 }, { value: 60 }] }] })
    const many = Array.from({ length: 100 }, (_, i) => ['avx2', 'numpy'].map((impl) => timed(`${impl}${i}`, { ...(impl === 'numpy' ? numpy : {}), params: { n: 1000 + i } }, impl === 'numpy' ? 100 : i % 2 ? 400 : 25))).flat()
    expect(figure(many).rows.map(({ label, dots }) => [label, dots.map(({ value }) => value.toPrecision(4))])).toEqual([['add', ['1.000']]])
  })

  it('writes a row in one unit, says what became of a case without a time, and marks what is unreliable', () => {
    const noisy = timed('n', numpy, 9000, { summary: { count: 9, medianNs: 9000, meanNs: 9000, stddevNs: 5000 } })
    const failed = timed('f', { impl: 'sse2' }, 1, { status: 'wrong', message: 'The relative error is 0.1.' })
    const other = timed('o', { impl: 'sse2', params: { n: 64 } }, 20)
    const { table, text } = part('trueno', [timed('a', {}, 3270), failed, noisy, other], 'Times')
    expect(table!.heads.slice(3).map(({ title }) => title)).toEqual(['avx2', 'numpy', 'sse2'])
    expect(table!.rows[0]!.slice(3)).toEqual([expect.objectContaining({ text: '3.27 ± 0.03 µs' }), expect.objectContaining({ text: '9.00 ± 5.00 µs', doubt: 'high variation' }), { text: 'verification failed', result: 'f' }])
    expect([table!.rows[1]!.slice(3).map((cell) => cell.text), text]).toEqual([['–', '–', '20.0 ± 0.2 ns'], expect.stringMatching(/ – = not measured in this session\.$/)])
  })

  it('has published and measured times in columns of their own, in one unit', () => {
    const { table } = part('trueno', [timed('a', { params: { n: 10000 } }, 3070)], 'Published figures')
    expect(table!.heads.map(({ title }) => title)).toEqual(['case', 'scalar (published)', 'SSE2 (published)', 'AVX2 (published)', 'AVX-512 (published)', 'avx2'])
    expect(table!.rows[2]!.map((cell) => cell.text)).toEqual(['add 10000', '2.00 µs', '1.65 µs', '1.40 µs', '1.60 µs', '3.07 µs'])
    expect(table!.rows[3]![0]).toEqual({ text: 'argmax 1M', note: 'published: NumPy 9 to 14x faster than PyTorch' })
  })

  it('finds where a level starts to win', () => {
    const at = (n: number, scalar: number, avx2: number) => [timed(`s${n}`, { impl: 'scalar', params: { n } }, scalar), timed(`v${n}`, { params: { n } }, avx2)]
    const { table } = part('trueno', [...at(100, 50, 60), ...at(1000, 200, 100)], 'Crossovers')
    expect(table!.rows[0]!.map(({ text }) => text)).toEqual(['add', expect.stringMatching(/^faster from \d+ elements$/)])
    expect(table!.rows[0]![1]!.note).toMatch(/^95 % CI [\d.]+ to [\d.]+$/)
    const noise = part('trueno', [...at(100, 50, 50.2), ...at(1000, 200, 199)], 'Crossovers')
    expect(noise.table!.rows[0]!.map(({ text }) => text)).toEqual(['add', 'unclear'])
    expect(noise.text).toContain('unclear: the medians change order')
  })

  it('names the fastest implementation and raises flags for failures and high variation', () => {
    const noisy = timed('b', { device: 'cuda:0', backend: 'cuda', impl: 'kernel' }, 50, { summary: { count: 9, medianNs: 50, meanNs: 55, stddevNs: 30 } })
    const failed = timed('f', { op: 'gelu' }, 1, { status: 'wrong', message: 'The relative error is 0.1.' })
    const results = [timed('a', { impl: 'torch', backend: 'python' }, 100), noisy, failed]
    expect(part('comprehensive', results, 'Fastest implementation').table!.rows[0]!.map(({ text }) => text)).toEqual(['add 1000', 'cuda', '50.0 ns', '11.7 KiB', 'torch', '2.000x'])
    expect(part('comprehensive', results, 'Fastest implementation').table!.rows[0]!.slice(1).map(({ result }) => result)).toEqual([noisy.id, noisy.id, noisy.id, 'a', 'a'])
    expect(part('comprehensive', results, 'Red flags').table!.rows.map((row) => row[1]!.text)).toEqual(['high variation: 55.0 ± 30.0 ns', 'verification failed: The relative error is 0.1.'])
  })
})

describe('the performance guide', () => {
  const gpu = { device: 'cuda:0', backend: 'cuda', impl: 'kernel', threads: undefined } as const
  const launches = [{ kernel: 'add_f32', grid: [256, 1, 1] as [number, number, number], threads: 256, registers: 24, sharedBytes: 0, blocksPerSm: 8, occupancy: 1, waves: 0.24 }]
  const timed = (id: string, change: Parameters<typeof testCase>[0], medianNs: number, more: Parameters<typeof testResult>[0] = {}) =>
    testResult({ id, case: testCase({ ...gpu, ...change }), bytes: 12 * 262144, summary: { count: 3, medianNs }, ...more })
  const copy = { backend: 'cuda', device: 'cuda:0', deviceName: 'GPU', kind: 'copy', value: 4e12, unit: 'bytes/s' as const, measuredAt: '', result: testResult() }
  const rows = (title: string, results: ReturnType<typeof timed>[]) =>
    suiteReport(findSuite('performance-guide')!, suiteResults(results), { ceilings: [copy] }).find((part) => part.title === title)?.table?.rows.map((row) => row.map((cell) => cell.text))

  it('holds each class of sizes against its minimum and target', () => {
    expect(rows('Bandwidth by size class', [timed('a', { params: { n: 262144 } }, 12 * 262144 / 4e3 / 0.2)])).toEqual([['cuda', 'small', '15.0 %', '25.0 %', '20.0 %', '20.0 %', '20.0 %', 'minimum met']])
  })

  it('has reductions by axis beside what is published for that axis, and not broadcasts of element-wise operations', () => {
    const sum = { op: 'sum', params: { rows: 64, cols: 64, axis: 'last' } }
    const torch = { impl: 'torch', backend: 'python', device: 'python:cuda:0' }
    const add = { op: 'add', params: { n: 64, broadcast: 'row', cols: 8 } }
    expect(rows('Reductions by axis', [timed('a', sum, 50), timed('t', { ...sum, ...torch }, 100), timed('b', add, 10), timed('c', { ...add, ...torch }, 10)])).toEqual([['cuda', 'last', '1', '2.000x', '2.000x', '2.000x', 'Genesis 0.17x to 0.25x, once 0.008x']])
  })

  it('states what a launch costs, and what kernels take of a multiprocessor', () => {
    const results = [timed('a', {}, 1000, { hostCallNs: 2500, launches }), timed('b', { params: { n: 4 } }, 9000, { hostCallNs: 3500 })]
    expect(rows('Launch overhead', results)).toEqual([['cuda', '2', '3.00 µs', '2.50 µs', '3.50 µs', '1']])
    const cells = suiteReport(findSuite('performance-guide')!, suiteResults(results), { ceilings: [copy] }).find(({ title }) => title === 'Occupancy')!.table!.rows[0]!
    expect(new Set(cells.map(({ result }) => result))).toEqual(new Set(['a']))
    expect(rows('Occupancy', results)!.map((row) => row.slice(0, 5))).toEqual([['add 1000 f32', '24', '0 B', '100 %', '0.24']])
  })
})

describe('a suite over batch, sequence and dimension', () => {
  const { full } = findSuite('comprehensive')!
  const norm = testCase({ op: 'layer_norm', params: { tokens: 8192, dim: 512 } })
  const gelu = testCase({ op: 'gelu', params: { n: 16 * 256 * 8 } })

  it('has a case for every value that it can be narrowed by', () => {
    const { cases } = planSweep(suitePlan(findSuite('comprehensive')!, [cpu]).spec, [cpu])
    for (const [facet, values] of Object.entries(full.grid!)) for (const value of values as number[]) expect(cases.some((c) => matchesFacets(c, full.grid!, { [facet]: [value] })), `${facet} ${value}`).toBe(true)
    for (const c of cases) expect(matchesFacets(c, full.grid!, {})).toBe(true)
  })

  it('counts a case for each batch and sequence that it is a product of', () => {
    expect([16, 32, 64, 128].map((batch) => matchesFacets(norm, full.grid!, { batch: [batch] }))).toEqual([true, true, false, false])
    expect(matchesFacets(norm, full.grid!, { batch: [16], sequence: [256] })).toBe(false)
    expect([matchesFacets(norm, full.grid!, { dimension: [512] }), matchesFacets(norm, full.grid!, { dimension: [768] })]).toEqual([true, false])
    expect([matchesFacets(gelu, full.grid!, { batch: [16] }), matchesFacets(gelu, full.grid!, { batch: [32] })]).toEqual([true, false])
  })

  it('narrows the report, and refuses what the suite does not have', () => {
    const results = suiteResults([testResult({ id: 'n', case: norm }), testResult({ id: 'g', case: gelu })])
    const rows = suiteReport(findSuite('comprehensive')!, results, { ceilings: [], filter: readFacets('dimension=512,batch=16+32', full) }).find(({ title }) => title === 'Times')!.table!.rows
    expect(rows.map(([first]) => first!.text)).toEqual(['layer_norm 8192x512'])
    expect(() => readFacets('batch=17', full)).toThrow('batch 17: this suite has 16, 32, 64, 128')
    expect(() => readFacets('width=5', full)).toThrow('"width" is no axis of this suite; expected batch, sequence, dimension')
    expect(() => readFacets('batch=16', findSuite('genesis')!.full)).toThrow('no batch')
  })
})
