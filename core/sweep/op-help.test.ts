import { describe, expect, it } from 'vitest'
import { getOp, OPS } from '../ops/registry'
import { opHelp } from './op-help'

describe('help on an operation', () => {
  it('states the call, its tensors and its cost at the first size that is picked', () => {
    expect(opHelp(getOp('add'), '1Mi, 16Mi', 'bf16')).toEqual({
      summary: getOp('add').summary, torch: 'torch.add(a, b)', dtype: 'bf16', shape: '1Mi', inputs: ['a 1048576 bf16', 'b 1048576 bf16'], outputs: ['out 1048576 bf16'], bytes: 3 * 2 ** 21, flops: 2 ** 20,
    })
    expect(opHelp(getOp('matmul'), '64x32x16')).toMatchObject({ shape: '64x32x16', flops: 2 * 64 * 32 * 16, bytes: 4 * (64 * 16 + 16 * 32 + 64 * 32) })
  })

  it('takes a size of the form where the picked text cannot be read, and a dtype of the operation', () => {
    expect(opHelp(getOp('softmax'), '1..').shape).toBe('2048x2048')
    expect(opHelp(getOp('scaled_matmul'), undefined, 'f32').dtype).not.toBe('f32')
  })

  it('names the variant of an operation that has several', () => {
    expect(opHelp(getOp('sum'), '64').shape).toBe('64x64 all')
  })

  it.each(OPS.map(({ id }) => id))('is there for %s', (id) => {
    const { bytes, flops, inputs, outputs } = opHelp(getOp(id), undefined)
    expect(bytes).toBeGreaterThan(0)
    expect(Number.isInteger(flops)).toBe(true)
    expect(inputs.length * outputs.length).toBeGreaterThan(0)
  })
})
