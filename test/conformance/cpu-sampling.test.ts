import { problemOf, type Device, type PreparedCase } from '@core/backend'
import type { BenchmarkCase, Mode } from '@core/case'
import { getOp } from '@core/ops/registry'
import type { Values } from '@core/values/numbers'
import { fillRange, type FillSpec } from '@core/values/random'
import { afterAll, describe, expect, it } from 'vitest'
import { nativeBackends } from '../../main/backends/native'

const cheatsBefore = process.env['OPSCOPE_RED_TEAM']
process.env['OPSCOPE_RED_TEAM'] = '1'
afterAll(() => {
  if (cheatsBefore === undefined) delete process.env['OPSCOPE_RED_TEAM']
  else process.env['OPSCOPE_RED_TEAM'] = cheatsBefore
})

const { backends, problem } = nativeBackends()
const cpu = backends.find((backend) => backend.id === 'cpu')
if (!cpu) throw new Error(problem ?? 'the addon has no CPU backend')
const [device] = (await cpu.devices()) as [Device]
const impls = device.impls.filter((impl) => impl.available.ok && impl.kernels['spin_ns']).map((impl) => impl.id)
const mostThreads = device.threads.at(-1)!
const lastCache = device.caches?.at(-1)?.bytes ?? 32 * 2 ** 20

interface Change {
  op?: string
  params?: BenchmarkCase['params']
  impl?: string
  mode?: Mode
  threads?: number
  seed?: number
  fill?: FillSpec
}

/** `copy` of enough elements for mode rotated, unless the change says otherwise. */
async function using(change: Change, work: (prepared: PreparedCase) => Promise<void>): Promise<void> {
  const op = getOp(change.op ?? 'copy')
  const c: BenchmarkCase = {
    op: op.id, params: change.params ?? { n: N }, dtype: 'f32', backend: 'cpu', impl: change.impl ?? impls.at(-1)!, device: 'cpu', mode: change.mode ?? 'rotated', threads: change.threads ?? 1,
  }
  const made = problemOf(op, c, change.seed ?? 1)
  const prepared = await cpu!.open({ ...made, tensors: made.tensors.map((tensor) => (tensor.role === 'out' || !change.fill ? tensor : { ...tensor, fill: change.fill })) })
  try {
    await work(prepared)
  } finally {
    await prepared.dispose()
  }
}

/** Elements of a copy that takes about forty sets of buffers. */
const N = Math.ceil((2 * lastCache) / 40 / 8)
const fill = { kind: 'normal', scale: 1 } as const
const same = (a: Values, b: Values) => Buffer.compare(Buffer.from(a.buffer), Buffer.from(b.buffer)) === 0

describe('cpu mode rotated', () => {
  it('takes sets of buffers that together hold twice the caches, and says how many', async () => {
    await using({ threads: mostThreads }, async (prepared) => {
      const { caseBytes } = prepared.memory()
      expect(caseBytes).toBeGreaterThanOrEqual(2 * lastCache)
      expect(caseBytes % (8 * N)).toBe(0)
      expect(prepared.notes).toContainEqual(expect.stringMatching(new RegExp(`^${caseBytes / (8 * N)} sets of buffers in turn, `)))
    })
  })

  it('writes another set with every call, and comes round to the first again', async () => {
    await using({ threads: mostThreads }, async (prepared) => {
      const sets = prepared.memory().caseBytes / (8 * N)
      const expected = fillRange(1, 0, fill, 'f32', 0, N)
      await prepared.poison()
      for (let call = 0; call < sets + 2; call++) {
        await prepared.sample({ mode: 'rotated', count: 1, inner: 1 })
        if (!same(await prepared.read(0, 0, N), expected)) throw new Error(`call ${call} of ${sets} sets gave another output`)
      }
      expect((await prepared.scan())[0]!.unwritten).toBe(0)
    })
  })

  it('finds holes in every set that was used, and in no other', async () => {
    const n = 2 * Math.ceil((2 * lastCache) / 20 / 24)
    await using({ op: 'add', impl: 'red-half', params: { n } }, async (prepared) => {
      await prepared.poison()
      await prepared.sample({ mode: 'rotated', count: 1, inner: 3 })
      expect((await prepared.scan())[0]!.unwritten).toBe(3 * (n / 2))
    })
  })

  it('is refused where it would take too many sets, or too much memory', async () => {
    await expect(using({ params: { n: 100 } }, async () => undefined)).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining('at most 256 are made') })
    const n = Math.floor((0.3 * device.memoryBytes) / 0.8 / 8)
    await expect(using({ params: { n } }, async () => undefined)).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining('more than a quarter of the free memory') })
  })

  it('is refused on a case that was opened with one set', async () => {
    await using({ mode: 'hot' }, async (prepared) => {
      await expect(prepared.sample({ mode: 'rotated', count: 1, inner: 1 })).rejects.toMatchObject({ code: 'internal', message: expect.stringContaining('one set of buffers') })
    })
  })
})

describe('cpu refill', () => {
  it('gives the inputs of another seed to every set', async () => {
    await using({ seed: 5, threads: mostThreads }, async (prepared) => {
      await prepared.refill(6)
      const expected = fillRange(6, 0, fill, 'f32', 0, N)
      for (let set = prepared.memory().caseBytes / (8 * N); set > 0; set--) {
        await prepared.run()
        if (!same(await prepared.read(0, 0, N), expected)) throw new Error(`${set - 1} sets from the last, the inputs are not those of the new seed`)
      }
    })
  })

  it('keeps the streams of the inputs apart', async () => {
    await using({ op: 'add', params: { n: 1000 }, mode: 'hot', seed: 5 }, async (prepared) => {
      await prepared.refill(9)
      await prepared.run()
      const [a, b] = [0, 1].map((stream) => fillRange(9, stream, fill, 'f32', 0, 1000)) as [Float32Array, Float32Array]
      expect(await prepared.read(0, 0, 1000)).toEqual(a.map((value, i) => value + b[i]!))
    })
  })
})

describe('cpu samples', () => {
  it('carry a time of the fixed work each, in every mode and with every number of threads', async () => {
    for (const threads of [...device.threads, mostThreads + 1])
      for (const mode of ['cold', 'hot', 'rotated'] as const)
        await using({ threads }, async (prepared) => {
          const { samplesNs, inner, probeNs } = await prepared.sample({ mode, count: 4, inner: 2 })
          expect(inner).toBe(mode === 'cold' ? 1 : 2)
          expect(samplesNs).toHaveLength(4)
          expect(probeNs).toHaveLength(4)
          expect([...probeNs!].every((ns) => ns > 0 && Number.isFinite(ns))).toBe(true)
        })
  })

  it('know the best time of the fixed work, where threads do not take turns', async () => {
    for (const threads of [1, mostThreads + 1])
      await using({ threads, mode: 'hot' }, async (prepared) => {
        const { state, probeNs } = await prepared.sample({ mode: 'hot', count: 64, inner: 1 })
        if (threads === 1) expect(state.probeBestNs).toBeLessThanOrEqual(Math.max(...probeNs!))
        else expect(state.probeBestNs).toBeUndefined()
      })
  })

  it.skipIf(process.platform !== 'linux')('come with the switches away from the measuring threads', async () => {
    await using({ threads: mostThreads, mode: 'hot' }, async (prepared) => {
      const { state } = await prepared.sample({ mode: 'hot', count: 4, inner: 2 })
      expect(Number.isInteger(state.involuntarySwitches)).toBe(true)
    })
  })
})

describe('cpu arithmetic', () => {
  it.each(impls)('%s makes subnormal results zero on every thread', async (impl) => {
    for (const threads of [1, mostThreads, 3])
      await using({ op: 'mul', impl, threads, mode: 'hot', params: { n: 10_001 }, fill: { kind: 'positive', scale: Math.fround(1e-20) } }, async (prepared) => {
        await prepared.run()
        expect((await prepared.read(0, 0, 10_001)).every((value: number) => value === 0)).toBe(true)
      })
  })

  it.each(impls)('%s waits at least as long as spin_ns says', async (impl) => {
    await using({ op: 'spin_ns', impl, mode: 'hot', params: { ns: 50_000 } }, async (prepared) => {
      const { samplesNs } = await prepared.sample({ mode: 'hot', count: 5, inner: 2 })
      expect(Math.min(...samplesNs)).toBeGreaterThan(49_000)
    })
  })
})

it('the caches of the cpu are listed smallest first', () => {
  const bytes = device.caches?.map((cache) => cache.bytes) ?? []
  expect(bytes).toEqual([...bytes].sort((a, b) => a - b))
  // In bytes, not in KiB as the system says it.
  expect(bytes.filter((size) => size < 4096)).toEqual([])
})

describe('a case opened beside another', () => {
  const opened = (n: number, impl: string, seed: number, beside?: PreparedCase) =>
    cpu.open(problemOf(getOp('copy'), { op: 'copy', params: { n }, dtype: 'f32', backend: 'cpu', impl, device: 'cpu', mode: 'hot', threads: 1 }, seed), undefined, beside)

  it('has its memory, also after that one was disposed', async () => {
    const first = await opened(1000, impls[0]!, 1)
    const second = await opened(1000, impls.at(-1)!, 1, first)
    await first.refill(7)
    await second.poison()
    expect((await first.scan())[0]!.unwritten).toBe(1000)
    await first.dispose()
    await second.run()
    expect((await second.scan())[0]!.unwritten).toBe(0)
    expect(same(await second.read(0, 0, 1000), fillRange(7, 0, fill, 'f32', 0, 1000))).toBe(true)
    await second.dispose()
  })

  it('has memory of its own where its tensors are others', async () => {
    const first = await opened(1000, impls[0]!, 1)
    const second = await opened(2000, impls.at(-1)!, 1, first)
    await first.poison()
    await first.run()
    await second.poison()
    expect((await first.scan())[0]!.unwritten).toBe(0)
    await first.dispose()
    await second.dispose()
  })
})
