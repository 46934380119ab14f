import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { problemOf, type CaseError } from '@core/backend'
import type { Params } from '@core/case'
import { getOp } from '@core/ops/registry'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openRequest, refillRequest } from '../prepared-case'
import { PYTHON, TestWorker, whyNot, WORKER } from './testing'

const reason = whyNot()
const problem = (op: string, params: Params) => problemOf(getOp(op), { op, params, dtype: 'f32', backend: 'python', impl: 'jax', device: 'python:cpu', mode: 'hot', threads: 1 }, 7)

/** A JAX whose arrays are NumPy's copies, whose jit does nothing, and whose calls are finished only when they are waited for. */
const JAX = `
import sys, types, numpy
class Lazy:
    def __init__(self, make): self.make, self.value = make, None
    def __array__(self, *_args, **_named):
        assert self.value is not None, 'read before it was waited for'
        return self.value
def block_until_ready(one):
    one.value = one.make()
    return one
def clear_caches(): pass
jit = lambda function: lambda *inputs: Lazy(lambda: function(*inputs))
config = types.SimpleNamespace(update=lambda name, value: print('config', name, value, flush=True))
devices = lambda kind: [kind]
device_put = lambda array, device: array.copy()
numpy = numpy
nn = types.SimpleNamespace(relu=lambda x: fail() if len(x) == 13 else numpy.maximum(x, 0))
def fail(): raise RuntimeError('RESOURCE_EXHAUSTED: Out of memory allocating 1073741824 bytes.')
__version__ = '0.9'
`

describe.skipIf(reason)(`JAX in the Python worker${reason ? `: ${reason}` : ''}`, () => {
  let worker: TestWorker
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'opscope-jax-'))
    writeFileSync(join(folder, 'jax.py'), JAX)
    worker = new TestWorker({ PYTHONPATH: folder })
  })
  afterEach(async () => {
    await worker.end()
    rmSync(folder, { recursive: true })
  })
  const firstOutput = async () => (await worker.ask<'read'>({ do: 'read', output: 0, start: 0, count: 1 })).payload.readFloatLE(0)

  test('is offered with its version; calls are waited for, and inputs that were filled anew are read anew', async () => {
    const { packages } = await worker.hello()
    expect(packages.find(({ name }) => name === 'jax')).toEqual({ name: 'jax', version: '0.9' })
    expect(worker.impls().find(({ id }) => id === 'jax')?.available).toEqual({ ok: true })
    const add = problem('add', { n: 1000 })
    const { answer } = await worker.ask<'open'>(openRequest(add))
    expect(answer.notes).toContain('JAX chooses its threads itself.')
    expect(answer.notes.join(' ')).toMatch(/Compiled in \d+\.\d s, before anything was timed\./)
    await worker.ask<'run'>({ do: 'run' })
    const first = await firstOutput()
    await worker.ask<'refill'>(refillRequest(add, 8))
    await worker.ask<'run'>({ do: 'run' })
    expect(await firstOutput()).not.toBe(first)
    const { answer: taken } = await worker.ask<'sample'>({ do: 'sample', mode: 'hot', count: 3, inner: 2 })
    expect(taken.count).toBeGreaterThan(0)
  })

  test('running out of memory is the failure of the case alone, in words', async () => {
    await worker.hello()
    const failure = await worker.ask<'open'>(openRequest(problem('relu', { n: 13 }))).then(() => expect.fail('expected a failure'), (error: unknown) => error as CaseError)
    expect(failure).toMatchObject({ code: 'out-of-memory', message: 'The memory ran out: asked for 1 GiB.' })
    expect((await worker.ask<'open'>(openRequest(problem('relu', { n: 14 })))).answer.caseBytes).toBeGreaterThan(0)
  })
})

test.skipIf(reason)('CuPy running out of memory is named as such', () => {
  const program = 'import sys\nsys.path.insert(0, sys.argv[1])\nfrom failures import failure_of\nkind = type("OutOfMemoryError", (MemoryError,), {"__module__": "cupy.cuda.memory"})\nfailure = failure_of(kind("Out of memory allocating 68,719,476,736 bytes (allocated so far: 0 bytes)."))\nprint(failure.code, failure.message)'
  expect(spawnSync(PYTHON, ['-B', '-c', program, WORKER], { encoding: 'utf8' }).stdout.trim()).toBe('out-of-memory CUDA ran out of memory: asked for 64 GiB.')
})
