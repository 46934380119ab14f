import { problemOf, problemOutputs, type Backend, type Device, type Impl } from '@core/backend'
import type { BenchmarkCase, Dtype, Params } from '@core/case'
import { createVerifier } from '@core/measure/verify/verify'
import type { Op } from '@core/ops/types'
import type { Values } from '@core/values/numbers'

export const SEED = 20260101
const pause = () => Promise.resolve()

/** A case of an implementation, for checking. */
export const makeCase = (device: Device, impl: Impl, op: Op, params: Params, dtype: Dtype, threads: number | undefined): BenchmarkCase => ({
  op: op.id, params, dtype, backend: device.backend, impl: impl.id, device: device.id, mode: 'hot', threads,
})

/** Elements of an output that two runs are compared in: all of them in outputs of up to 32 MiB of f32, the first of larger ones. */
const REPEATED = 2 ** 23

/** Elements whose bits differ; a NaN is the same as any other. */
function differences(before: Values, now: Values): number {
  let count = 0
  for (let i = 0; i < now.length; i++) if (!Object.is(before[i], now[i])) count++
  return count
}

/**
 * What is wrong with one case: poisoned, run twice, and compared with its float64 reference. Empty when nothing is.
 * `repeats`: the bits of both runs must be the same as well.
 */
export async function faultsOf(backend: Backend, op: Op, c: BenchmarkCase, work: number, repeats = false): Promise<string[]> {
  const problem = problemOf(op, c, SEED)
  const prepared = await backend.open(problem)
  try {
    const faults: string[] = []
    await prepared.poison()
    const untouched = await prepared.scan()
    for (const [i, { name, role, elements }] of problemOutputs(problem).entries()) if (role === 'out' && untouched[i]!.unwritten !== elements) faults.push(`poison left ${elements - untouched[i]!.unwritten} of ${elements} elements of ${name}`)
    const verifier = createVerifier(op, c, SEED, work)
    const outputs = () => Promise.all(problemOutputs(problem).map(({ elements }, i) => prepared.read(i, 0, Math.min(elements, REPEATED))))
    let before: Awaited<ReturnType<typeof outputs>> | undefined
    // Twice: what the first run leaves in scratch memory must not change the second.
    for (const round of ['first', 'second']) {
      if (round === 'second' && op.drifts) await prepared.refill(SEED)
      if (round === 'second') await prepared.poison()
      await prepared.run()
      const verdict = await verifier.check(prepared, 'before', pause)
      if (!verdict.ok) faults.push(`${round} run: ${verdict.message ?? 'wrong'}`)
      if (!repeats) continue
      const now = await outputs()
      const differing = now.reduce((sum, values, i) => sum + (before ? differences(before[i]!, values) : 0), 0)
      if (differing > 0) faults.push(`${differing} elements differ between two runs`)
      before = now
    }
    return faults
  } finally {
    await prepared.dispose()
  }
}
