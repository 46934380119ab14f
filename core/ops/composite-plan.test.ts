import { describe, expect, it } from 'vitest'
import { STORAGE_BYTES, type Dtype } from '../case'
import { scratchBytes, joinedDtypes, planComposite, type CompositeBuffer } from './composite-plan'
import { inputsOf, outputsOf, tensorsOf } from './define'
import { ALL_OPS, getOp } from './registry'
import { exampleParams, generatedInputs } from './testing'
import type { InputValues } from './types'

const COMPOSITES = ALL_OPS.filter(({ parts }) => parts)
const block = getOp('transformer_block')
const key = (buffer: CompositeBuffer) => JSON.stringify(buffer)
const CASES = COMPOSITES.flatMap((op) => exampleParams(op).flatMap((params) => op.dtypes.map((dtype) => ({ op, dtype, p: op.params.parse(params), name: `${op.id} ${dtype} ${JSON.stringify(params)}` }))))

describe.each(CASES)('$name', ({ op, dtype, p }) => {
  const plan = planComposite(op, p, dtype)
  const own = tensorsOf(op, p, dtype)

  it('every tensor of a part has room in its buffer', () => {
    for (const { op: part, params, buffers } of plan.steps) {
      for (const [i, { elements, storage }] of tensorsOf(part, params, dtype).entries()) {
        const at = buffers[i]!
        const room = 'tensor' in at ? own[at.tensor]!.elements * STORAGE_BYTES[own[at.tensor]!.storage] : plan.scratchBytes[at.scratch]!
        expect(elements * STORAGE_BYTES[storage]).toBeLessThanOrEqual(room)
      }
    }
    expect(plan.scratchBytes.every((bytes) => bytes > 0 && bytes % 16 === 0)).toBe(true)
  })

  it('no part writes what it reads, an input, or a buffer twice; scratch memory is written before it is read', () => {
    const written = new Set<string>()
    for (const { op: part, params, buffers } of plan.steps) {
      const roles = tensorsOf(part, params, dtype).map(({ role }) => role)
      const [reads, writes] = [buffers.filter((_, i) => roles[i] === 'in'), buffers.filter((_, i) => roles[i] === 'out')]
      for (const buffer of reads) expect('tensor' in buffer ? own[buffer.tensor]!.role === 'in' : written.has(key(buffer))).toBe(true)
      for (const buffer of writes) {
        expect(reads.map(key)).not.toContain(key(buffer))
        if ('tensor' in buffer) expect(own[buffer.tensor]!.role).toBe('out')
        written.add(key(buffer))
      }
      expect(new Set(writes.map(key)).size).toBe(writes.length)
    }
    for (const tensor of own.keys()) if (own[tensor]!.role === 'out') expect(written).toContain(key({ tensor }))
  })

  it('computed step by step through its buffers, gives what the op states', () => {
    const read = generatedInputs(op, p, dtype, 7)
    const filled = inputsOf(op, p, dtype)
    const memory = new Map<string, InputValues>(own.flatMap(({ name, role }, tensor) => (role === 'in' ? [[key({ tensor }), read(filled.findIndex((one) => one.name === name), 0, own[tensor]!.elements)] as const] : [])))
    for (const { op: part, params, buffers } of plan.steps) {
      const tensors = tensorsOf(part, params, dtype)
      const sources = buffers.filter((_, i) => tensors[i]!.role === 'in').map((buffer) => memory.get(key(buffer))!)
      const results = outputsOf(part, params, dtype).map(({ elements }, output) => part.reference(params, (input, start, count) => sources[input]!.slice(start, start + count) as InputValues, 0, elements, output))
      for (const [i, buffer] of buffers.filter((_, at) => tensors[at]!.role === 'out').entries()) memory.set(key(buffer), results[i]!)
    }
    const out = memory.get(key({ tensor: own.findIndex(({ role }) => role === 'out') }))!
    const expected = op.reference(p, read, 0, out.length)
    for (const [i, value] of out.entries()) expect(value).toBeCloseTo(expected[i]!, 9)
  })
})

describe('the plan of a transformer block', () => {
  const p = block.params.parse({ batch: 2, seq: 8, dim: 64, heads: 4 })
  const plan = planComposite(block, p, 'f16')

  it('copies queries, keys and values together, and what the heads give once', () => {
    const copies = plan.steps.filter(({ op }) => op.id === 'copy_view')
    expect(copies.map(({ name, params }) => [name, params['views'], params['distance'], params['bias']])).toEqual([['qkv_bias', 3, 64, true], ['proj', 1, 0, false]])
  })

  it('adds biases in the pass that reads what they are added to', () => {
    expect(plan.steps.map(({ name, op }) => `${name} ${op.id}`)).toEqual([
      'norm1 layer_norm', 'qkv matmul', 'qkv_bias copy_view', 'attention scaled_dot_product_attention', 'proj copy_view', 'proj matmul', 'proj_bias+residual1 add_residual',
      'norm2 layer_norm', 'fc1 matmul', 'fc1_bias+gelu add_gelu', 'fc2 matmul', 'fc2_bias+residual2 add_residual',
    ])
  })

  it('takes scratch memory again: of the widest tensor, four times the tokens, it holds two', () => {
    const wide = 2 * 8 * 4 * 64 * 2
    expect(plan.scratchBytes.filter((bytes) => bytes >= wide)).toHaveLength(2)
    // And three as wide as x: queries, keys and values beside the product that they are copied from, which grows.
    expect(scratchBytes(block, p, 'f16')).toBe(2.75 * wide)
    expect(scratchBytes(block, p, 'f32')).toBe(2 * scratchBytes(block, p, 'f16'))
    expect(scratchBytes(getOp('add'), { n: 5 }, 'f32')).toBe(0)
  })

  it('is offered in the dtypes in which there are kernels for all parts', () => {
    const kernels = (dtypes: readonly Dtype[], missing?: string) => Object.fromEntries(plan.steps.filter(({ op }) => op.id !== missing).map(({ op }) => [op.id, op.id === 'add_gelu' ? dtypes : block.dtypes] as const))
    expect(joinedDtypes(block, kernels(['f32', 'bf16']))).toEqual(['f32', 'bf16'])
    expect(joinedDtypes(block, kernels(block.dtypes, 'copy_view'))).toEqual([])
  })
})
