import type { Backend, PreparedCase } from '@core/backend'
import { getOp } from '@core/ops/registry'
import { fillRange } from '@core/values/random'
import { testCase } from '@core/testing'
import { expect, it } from 'vitest'
import { faultsOf, SEED } from './faults'

const N = 100_000

/** A copy on no device, of which each run writes the element at `at` anew. */
function unsteady(at: number): Backend {
  let runs = 0
  return {
    id: 'cpu',
    devices: () => Promise.resolve([]),
    open: ({ tensors }) => {
      const values = fillRange(SEED, 0, tensors[0]!.fill!, 'f32', 0, N).slice()
      const prepared: Partial<PreparedCase> = {
        poison: () => Promise.resolve(),
        refill: () => Promise.resolve(),
        run: () => {
          // A difference that every tolerance has room for.
          if (runs++ > 0) values[at] = values[at]! * (1 + 2 ** -23)
          return Promise.resolve()
        },
        scan: () => Promise.resolve([{ unwritten: runs === 0 ? N : 0, nonFinite: 0 }]),
        read: (_output, start, count) => Promise.resolve(values.slice(start, start + count)),
        dispose: () => Promise.resolve(),
      }
      return Promise.resolve(prepared as PreparedCase)
    },
  }
}

it.each([0, 2 ** 16 + 1, N - 1])('finds the one element, %s, that differs between two runs', async (at) => {
  const c = testCase({ op: 'copy', params: { n: N } })
  const faults = await faultsOf(unsteady(at), getOp('copy'), c, 1e8, true)
  expect(faults).toContain('1 elements differ between two runs')
})
