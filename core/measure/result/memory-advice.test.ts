import { expect, it } from 'vitest'
import { findOp } from '../../ops/registry'
import { doesNotFit, memoryAdvice } from './memory-advice'

const GiB = 2 ** 30
const add = { params: { n: GiB }, dtype: 'f32' as const }
const advice = (freeBytes?: number) => memoryAdvice(findOp('add')!, add, freeBytes)

it('names what a case needs, what is free, and the sizes and dtypes that fit', () => {
  expect(advice(8 * GiB)).toBe('The tensors of this case take 12.0 GiB; 8.00 GiB are free on the device. Try 1/2 of the elements (6.00 GiB), or f16 (6.00 GiB), or bf16 (6.00 GiB), or close other programs on the device.')
  expect(advice(4 * GiB)).toBe('The tensors of this case take 12.0 GiB; 4.00 GiB are free on the device. Try 1/4 of the elements (3.00 GiB), or close other programs on the device.')
})

it('names the workspace where the tensors alone would fit, and goes without what is free where that is not known', () => {
  expect(advice(80 * GiB)).toContain('80.0 GiB are free on the device. Workspace of the computing library comes on top. Try 1/2 of the elements')
  expect(advice()).toBe('The tensors of this case take 12.0 GiB. Try 1/2 of the elements (6.00 GiB), or f16 (6.00 GiB), or bf16 (6.00 GiB), or close other programs on the device.')
  expect(advice(0)).toContain('Close other programs on the device.')
})

it('says why a case is not tried: what it takes, what there is, and what fits', () => {
  const reason = (freeBytes: number) => doesNotFit(findOp('add')!, add, 'Test GPU', freeBytes)
  expect(reason(8 * GiB)).toBe('inputs and output take 12.0 GiB; a case may take 8.00 GiB on Test GPU. What fits: 1/2 of the elements (6.00 GiB), or f16 (6.00 GiB), or bf16 (6.00 GiB)')
  expect(reason(0)).toBe('inputs and output take 12.0 GiB; a case may take 0 B on Test GPU')
})

it('counts the scratch memory between the parts of a composite', () => {
  const block = { params: { batch: 64, seq: 4096, dim: 1024, heads: 16 }, dtype: 'f16' as const }
  // x and out take 1 GiB, two tensors between parts 2 GiB each, three more 0.5 GiB each, and the weights 24 MiB.
  expect(doesNotFit(findOp('transformer_block')!, block, 'Test GPU', GiB)).toMatch(/^inputs, output and scratch memory between the parts take 6\.52 GiB; a case may take 1\.00 GiB on Test GPU\./)
})
