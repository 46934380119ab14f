import { expect, it } from 'vitest'
import type { Params } from '@core/case'
import { generatedInputs } from '@core/ops/testing'
import { inputsOf } from '@core/ops/define'
import { getOp } from '@core/ops/registry'
import type { ReadInput } from '@core/ops/types'

const MANY = 400_003

/** Rows of few elements, of which a case may have tens of millions: what is checked of them, from the first element on, and the output. */
const SHORT_ROWS: readonly (readonly [op: string, params: Params, count: number, output?: number])[] = [
  ['cross_entropy', { tokens: MANY, classes: 2 }, 1],
  ['cross_entropy_backward', { tokens: MANY, classes: 2 }, 2 * MANY],
  ['mse_loss', { n: MANY }, 1],
  ['dot', { n: MANY }, 1],
  ['layer_norm_backward', { tokens: MANY, dim: 2 }, 2 * MANY],
  ['layer_norm_backward', { tokens: MANY, dim: 2 }, 2, 1],
  ['layer_norm_backward', { tokens: MANY, dim: 2 }, 2, 2],
  ['rms_norm_backward', { tokens: MANY, dim: 3 }, 3 * MANY],
  ['rms_norm_backward', { tokens: MANY, dim: 3 }, 3, 1],
  ['batch_norm', { batch: MANY, channels: 2, height: 1, width: 1, training: true }, 2, 1],
  ['scatter_add', { rows: 1, dim: 1, indices: MANY }, 1],
  ['gather', { rows: 2, dim: 1, indices: MANY }, MANY],
  ['softmax', { rows: MANY, cols: 2 }, 2 * MANY],
  ['sum', { rows: MANY, cols: 1, axis: 'all' }, 1],
  ['argmax', { rows: MANY, cols: 2, axis: 'first' }, 2],
  ['norm_l2', { rows: MANY, cols: 2, axis: 'last' }, MANY],
]

it('reads short rows many at a time: a read by itself costs as much as dozens of elements, and checks of large cases would take minutes', () => {
  for (const [id, given, count, output = 0] of SHORT_ROWS) {
    const op = getOp(id)
    const params = op.params.parse(given)
    const inner = generatedInputs(op, params, 'f32', 3)
    let reads = 0
    const read: ReadInput = (...at) => {
      reads++
      return inner(...at)
    }
    expect(op.reference(params, read, 0, count, output)).toHaveLength(count)
    expect(reads, `${id} of ${JSON.stringify(given)}, output ${output}`).toBeLessThan(200 * inputsOf(op, params, 'f32').length)
  }
})
