import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { problemOf, type CaseError } from '@core/backend'
import type { Params } from '@core/case'
import { getOp } from '@core/ops/registry'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PROTOCOL_VERSION } from '../protocol'
import { openRequest } from '../prepared-case'
import { frame, GUEST, TestWorker, whyNot } from './testing'

const reason = whyNot()
const problem = (op: string, params: Params, impl: string, threads = 1) =>
  problemOf(getOp(op), { op, params, dtype: 'f32', backend: 'python', impl, device: 'python:cpu', mode: 'hot', threads }, 7)
const failureOf = (asked: Promise<unknown>) => asked.then(() => expect.fail('expected a failure'), (error: unknown) => error as CaseError)

describe.skipIf(reason)(`the Python worker${reason ? `: ${reason}` : ''}`, () => {
  let worker: TestWorker
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'opscope-worker-'))
    worker = new TestWorker()
  })
  afterEach(async () => {
    await worker.end()
    rmSync(folder, { recursive: true })
  })
  const unwritten = async () => (await worker.ask<'scan'>({ do: 'scan' })).answer.outputs[0]!.unwritten
  /** A worker that finds these modules before the installed ones. */
  const withModules = async (modules: Record<string, string>) => {
    for (const [name, text] of Object.entries(modules)) writeFileSync(join(folder, `${name}.py`), text)
    await worker.end()
    worker = new TestWorker({ PYTHONPATH: folder })
  }

  test('what libraries print goes to the standard error, not between the frames', async () => {
    const loud = 'import os\nprint("loud library", flush=True)\nos.write(1, b"louder")\n__version__ = "9.9"'
    await withModules({ triton: loud })
    const { packages } = await worker.hello()
    expect(packages.find(({ name }) => name === 'triton')).toEqual({ name: 'triton', version: '9.9' })
    expect(worker.printed).toBe('')
    // Another pipe than the frames: it may be read a moment later.
    await expect.poll(() => worker.complaint).toContain('louder')
    expect(worker.complaint).toContain('loud library')
  })

  test('a library that cannot be imported is described with its last line, and its implementations say so', async () => {
    await withModules({ torch: 'raise ImportError("libgomp.so.1: cannot open shared object file\\nNo such file or directory")' })
    const { packages } = await worker.hello()
    const impls = worker.impls()
    expect(packages.find(({ name }) => name === 'torch')).toEqual({ name: 'torch', problem: 'ImportError: No such file or directory' })
    expect(impls.find(({ id }) => id === 'torch')?.available).toEqual({ ok: false, reason: 'PyTorch cannot be imported: ImportError: No such file or directory' })
    expect(impls.find(({ id }) => id === 'numpy')?.available).toEqual({ ok: true })
  })

  test.each([
    ['another magic number', frame('{}', { magic: 0x21212121 }), 'a frame starts with 0x21212121; expected 0x4f505357'],
    ['too long a header', frame('{}', { headerBytes: 2 ** 30 }), 'a header of 1073741824 bytes; at most 1048576 are read'],
    ['a payload', frame('{"id":1,"do":"poison"}', { payloadBytes: 5 }), 'a request with 5 bytes of payload; expected none'],
    ['no JSON', frame('hello'), 'a header that is no JSON'],
    ['no request', frame('[1]'), 'a header without `id` and `do`'],
  ])('a frame with %s ends it with one line', async (_what, bytes, words) => {
    worker.stdin.write(bytes)
    expect(await worker.ended).toBe(1)
    expect(worker.complaint.trim().split('\n')).toHaveLength(1)
    expect(worker.complaint).toContain(words)
  })

  test('it ends with its requests, and not by Ctrl+C', async () => {
    await worker.hello()
    worker.child.kill('SIGINT')
    expect((await worker.hello()).protocol).toBe(PROTOCOL_VERSION)
    expect(await worker.end()).toBe(0)
  })

  test('what it cannot do is refused in words, and it goes on', async () => {
    expect((await failureOf(worker.ask<'open'>(openRequest(problem('add', { n: 4 }, 'numpy'))))).message).toBe('A case was opened before `hello`.')
    await worker.hello()
    expect(await failureOf(worker.ask<'run'>({ do: 'run' }))).toMatchObject({ code: 'internal', message: 'No case is open.' })
    expect(await failureOf(worker.ask<'open'>(openRequest(problem('add', { n: 4 }, 'tinygrad'))))).toMatchObject({ code: 'unsupported', message: expect.stringContaining('There is no implementation "tinygrad"; expected one of cupy, jax, numpy') })
    expect(await failureOf(worker.ask<'open'>({ ...openRequest(problem('add', { n: 4 }, 'numpy')), dtype: 'bf16' }))).toMatchObject({ code: 'unsupported', message: 'NumPy has no add in bf16.' })
    const { message } = await failureOf(worker.ask<'hello'>({ do: 'hello', protocol: PROTOCOL_VERSION, hardware: 'cpu', ordinal: 0, guest: `${GUEST}.none` }))
    expect(message).toContain('cannot be loaded')
    expect((await worker.ask<'open'>(openRequest(problem('add', { n: 4 }, 'numpy')))).answer.caseBytes).toBeGreaterThanOrEqual(48)
  })

  test('pieces of a stretch of an output come one after the other', async () => {
    await worker.hello()
    await worker.ask<'open'>(openRequest(problem('copy', { n: 1000 }, 'numpy')))
    await worker.ask<'run'>({ do: 'run' })
    const read = async (start: number, count: number, pieces?: [number, number][]) => (await worker.ask<'read'>({ do: 'read', output: 0, start, count, ...(pieces ? { pieces } : {}) })).payload
    const whole = Buffer.from(await read(0, 1000))
    expect(await read(100, 300, [[0, 2], [7, 1], [290, 10]])).toEqual(Buffer.concat([whole.subarray(400, 408), whole.subarray(428, 432), whole.subarray(1560, 1600)]))
  })

  test('samples come with one time each and the state of the machine', async () => {
    await worker.hello()
    await worker.ask<'open'>(openRequest(problem('exp', { n: 100_000 }, 'numpy')))
    for (const mode of ['cold', 'hot'] as const) {
      const { answer, payload } = await worker.ask<'sample'>({ do: 'sample', mode, count: 5, inner: mode === 'cold' ? 1 : 3 })
      expect(payload.byteLength).toBe(answer.count * answer.arrays.length * 8)
      expect(answer.arrays[0]).toBe('samplesNs')
      expect(answer.inner).toBe(mode === 'cold' ? 1 : 3)
      const times = Array.from({ length: answer.count }, (_, i) => payload.readDoubleLE(i * 8))
      expect(times.every((ns) => ns > 0 && Number.isFinite(ns))).toBe(true)
    }
  })

  test('scratch memory that is kept counts for the case, memory of a call for the library', async () => {
    await worker.hello()
    const bytes = async (op: string) => (await worker.ask<'open'>(openRequest(problem(op, op === 'softmax' ? { rows: 256, cols: 512 } : { tokens: 256, dim: 512 }, 'numpy')))).answer.caseBytes
    const [softmax, layerNorm] = [await bytes('softmax'), await bytes('layer_norm')]
    // One matrix of squares and one more column, and the weight and bias, which softmax has not.
    expect(layerNorm - softmax).toBeGreaterThanOrEqual(4 * (256 * 512 + 256 + 2 * 512))
    expect((await worker.ask<'run'>({ do: 'run' })).answer.libraryPeakBytes).toBeLessThan(256 * 512 * 4)
  })

  test('NumPy says where threads do not reach', async () => {
    await worker.hello()
    const notes = async (op: string, params: Params, threads: number) => (await worker.ask<'open'>(openRequest(problem(op, params, 'numpy', threads)))).answer.notes
    expect(await notes('add', { n: 100 }, 2)).toContain('NumPy computes this on one thread.')
    expect(await notes('add', { n: 100 }, 1)).toEqual(["Called from Python: the interpreter's part of a call is inside."])
  })

  describe('with PyTorch', () => {
    const ready = async (context: { skip: (note: string) => void }) => {
      const torch = (await worker.hello()).packages.find(({ name }) => name === 'torch')
      if (torch?.version === undefined) context.skip('this Python has no PyTorch')
    }

    test('an output that calls allocate is delivered after runs and samples, and no older one after poison', async (context) => {
      await ready(context)
      const { answer } = await worker.ask<'open'>(openRequest(problem('layer_norm', { tokens: 64, dim: 100 }, 'torch')))
      expect(answer.notes).toContain("Allocates its output in every call: the allocator's cost is inside.")
      expect((await worker.ask<'open'>(openRequest(problem('softmax', { rows: 64, cols: 100 }, 'torch')))).answer.notes).toHaveLength(1)
      await worker.ask<'open'>(openRequest(problem('layer_norm', { tokens: 64, dim: 100 }, 'torch')))
      await worker.ask<'sample'>({ do: 'sample', mode: 'hot', count: 2, inner: 2 })
      await worker.ask<'poison'>({ do: 'poison' })
      expect(await unwritten()).toBe(6400)
      await worker.ask<'sample'>({ do: 'sample', mode: 'hot', count: 2, inner: 2 })
      expect(await unwritten()).toBe(0)
      await worker.ask<'poison'>({ do: 'poison' })
      await worker.ask<'run'>({ do: 'run' })
      expect(await unwritten()).toBe(0)
    })

    test('computes with as many threads as asked for, which may change from case to case', async (context) => {
      await withModules({ triton: 'import torch\nexp = torch.exp\ntorch.exp = lambda x, out: print("threads:", torch.get_num_threads(), flush=True) or exp(x, out=out)' })
      await ready(context)
      for (const threads of [1, 4, 2]) await worker.ask<'open'>(openRequest(problem('exp', { n: 100 }, 'torch', threads)))
      await worker.end()
      expect(worker.complaint.match(/threads: \d+/g)).toEqual(['threads: 1', 'threads: 4', 'threads: 2'])
    })

    test('an exception of a library is the failure of the case, and the next case is computed', async (context) => {
      await withModules({ triton: 'import torch\ndef refuse(x, out):\n  raise ValueError("bad luck\\nmore of it")\ntorch.exp = refuse' })
      await ready(context)
      const failure = await failureOf(worker.ask<'open'>(openRequest(problem('exp', { n: 100 }, 'torch'))))
      expect(failure).toMatchObject({ code: 'kernel-failed', message: 'ValueError: bad luck' })
      expect(failure.detail).toContain('in refuse')
      await worker.ask<'open'>(openRequest(problem('add', { n: 100 }, 'torch')))
      await worker.ask<'poison'>({ do: 'poison' })
      await worker.ask<'run'>({ do: 'run' })
      expect(await unwritten()).toBe(0)
    })

    test('every set of buffers of mode rotated gets its own output', async (context) => {
      await ready(context)
      const params = { tokens: 2048, dim: 4096 }
      await worker.ask<'open'>({ ...openRequest(problem('layer_norm', params, 'torch')), rotated: true })
      await worker.ask<'poison'>({ do: 'poison' })
      const { answer } = await worker.ask<'sample'>({ do: 'sample', mode: 'rotated', count: 2, inner: 2 })
      expect(answer.count).toBeGreaterThan(0)
      expect(await unwritten()).toBe(0)
    })
  })
})
