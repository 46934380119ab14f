import { describe, expect, it } from 'vitest'
import type { Dtype, Params } from '../case'
import { outputsOf } from './define'
import { generatedInputs } from './testing'
import { getOp } from './registry'

/** What test/fixtures/torch/write.mjs keeps of one operation. */
interface TorchFixture {
  torch: string
  seed: number
  dtype: Dtype
  cases: readonly { params: Params; outputs: readonly { elements: number; stride: number; values: readonly number[] }[] }[]
}

const fixtures = Object.entries(import.meta.glob<TorchFixture>('../../test/fixtures/torch/*.json', { eager: true, import: 'default' }))

describe.each(fixtures.map(([path, fixture]) => ({ id: path.split('/').at(-1)!.replace('.json', ''), fixture })))('the reference of $id equals PyTorch in float64', ({ id, fixture }) => {
  it.each(fixture.cases.map(({ params, outputs }) => ({ params, outputs, name: JSON.stringify(params) })))('$name', ({ params, outputs }) => {
    const op = getOp(id)
    const p = op.params.parse(params)
    const read = generatedInputs(op, params, fixture.dtype, fixture.seed)
    expect(outputsOf(op, p, fixture.dtype).map(({ elements }) => elements)).toEqual(outputs.map(({ elements }) => elements))
    for (const [output, { elements, stride, values }] of outputs.entries()) {
      const reference = op.reference(p, read, 0, elements, output)
      const largest = Math.max(...values.map(Math.abs))
      for (const [i, value] of values.entries()) {
        const difference = Math.abs(reference[i * stride]! - value)
        expect(difference, `output ${output}, element ${i * stride}: ${reference[i * stride]} instead of ${value}`).toBeLessThanOrEqual(1e-11 * Math.abs(value) + 1e-13 * largest)
      }
    }
  })
})
