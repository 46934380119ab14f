import { expect, it } from 'vitest'
import { partCosts } from '../composite'
import { elementsOf, inputsOf, outputsOf } from '../define'
import { generatedInputs } from '../testing'
import type { ReadInput } from '../types'
import op from './op'

const p = op.params.parse({ batch: 2, seq: 6, dim: 8, heads: 2 })

it('joins parts whose tensors have as many elements as what they are read from', () => {
  const known = new Map(inputsOf(op, p, 'f32').map(({ name, elements }) => [name, elements]))
  for (const { name, op: part, params, inputs } of op.parts!(p)) {
    const whole = part.params.parse(params)
    for (const { name: tensor, elements } of inputsOf(part, whole, 'f32')) {
      const source = inputs[tensor]!
      if (typeof source === 'string') expect([name, tensor, known.get(source)]).toEqual([name, tensor, elements])
      else {
        expect([name, tensor, elementsOf(source.shape)]).toEqual([name, tensor, elements])
        const last = source.shape.reduce((at, extent, axis) => at + (extent - 1) * source.strides[axis]!, source.offset ?? 0)
        expect(last).toBeLessThan(known.get(source.of)!)
      }
    }
    for (const output of outputsOf(part, whole, 'f32')) known.set(`${name}.${output.name}`, output.elements)
  }
  expect([...known.values()].at(-1)).toBe(outputsOf(op, p, 'f32')[0]!.elements)
})

it('counts what its parts count, and moves only its own tensors', () => {
  const parts = partCosts(op, p, 'f16')
  const products = 2 * 12 * 8 * 8 * (3 + 1 + 4 + 4)
  expect(parts.filter(({ op: part }) => part.id === 'matmul').reduce((sum, { flops }) => sum + flops, 0)).toBe(products)
  expect(parts.reduce((sum, { flops }) => sum + flops, 0)).toBe(op.flops(p))
  expect(op.bytes(p, 'f16')).toBe(2 * (2 * 96 + 8 * 8 * 12 + 8 * (3 + 1 + 4 + 1) + 4 * 8))
  expect(parts.every(({ bytes }) => bytes > 0)).toBe(true)
  expect(op.params.safeParse({ batch: 1, seq: 2, dim: 9, heads: 2 }).error!.issues[0]!.message).toBe('heads (2) must divide dim (9)')
})

it('computes one token from its sequence alone', () => {
  const wide = op.params.parse({ batch: 2, seq: 6, dim: 128, heads: 2 })
  const inner = generatedInputs(op, wide, 'f32', 3)
  const tokens = new Set<number>()
  const read: ReadInput = (input, start, count) => {
    if (input === 0) for (let at = start; at < start + count; at += 128) tokens.add(Math.floor(at / 128))
    return inner(input, start, count)
  }
  const whole = op.reference(wide, inner, 0, 12 * 128)
  expect(op.reference(wide, read, 8 * 128, 128)).toEqual(whole.slice(8 * 128, 9 * 128))
  expect([...tokens].sort((a, b) => a - b)).toEqual([6, 7, 8, 9, 10, 11])
})
