import type { Device } from '@core/backend'
import { afterAll, describe, test } from 'vitest'
import { checkInputs, checkKernels } from '../../../../test/conformance/harness'
import { backendOf, TestWorker, whyNot } from './testing'

/** Every op of every implementation this Python has, through real frames, against the float64 references. */
const reason = whyNot()
if (reason) {
  test.skip(`kernels of the Python worker: ${reason}`, () => undefined)
} else {
  const worker = new TestWorker()
  await worker.hello()
  const impls = worker.impls()
  const device: Device = {
    backend: 'python', id: 'python:cpu', name: 'CPU', available: { ok: true }, impls, modes: ['cold', 'hot', 'rotated'], threads: [2], memoryBytes: 2 ** 30, software: false, facts: [], warnings: [],
  }
  describe('the Python worker', { timeout: 300_000 }, () => {
    afterAll(() => worker.end())
    checkKernels(backendOf(worker), device, { few: true, verifyWork: 1e7 })
    checkInputs(backendOf(worker), device, ['f32'])
  })
}
