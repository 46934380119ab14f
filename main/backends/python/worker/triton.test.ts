import { spawnSync } from 'node:child_process'
import type { Device } from '@core/backend'
import { afterAll, describe, expect, test } from 'vitest'
import { checkKernels } from '../../../../test/conformance/harness'
import { backendOf, PYTHON, TestWorker, whyNot } from './testing'

/** Triton's interpreter runs the kernels of triton_ on the CPU, where this Python has it; compiled ones are checked on a GPU (scripts/gpu/python-kernels.sh). */
const reason = whyNot() ?? (spawnSync(PYTHON, ['-c', 'import triton, torch']).status === 0 ? undefined : `${PYTHON} has no Triton`)
if (reason) {
  test.skip(`Triton's kernels, interpreted: ${reason}`, () => undefined)
} else {
  const worker = new TestWorker({ TRITON_INTERPRET: '1', OPSCOPE_TRITON_PICK: process.env['OPSCOPE_TRITON_PICK'] ?? '1' })
  await worker.hello()
  const impls = worker.impls()
  const device: Device = {
    backend: 'python', id: 'python:cpu', name: 'CPU', available: { ok: true }, impls: impls.filter(({ id }) => id === 'triton'), modes: ['cold', 'hot'], threads: [1], memoryBytes: 2 ** 30, software: false, facts: [], warnings: [],
  }
  describe('Triton, interpreted', { timeout: 300_000 }, () => {
    afterAll(() => worker.end())
    test('is offered', () => expect(device.impls[0]?.available).toEqual({ ok: true }))
    checkKernels(backendOf(worker), device, { few: true, verifyWork: 1e7 })
  })
}
