import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { STORAGE_BYTES, type Dtype, type Params } from '@core/case'
import { tensorsOf } from '@core/ops/define'
import { OPS, getOp } from '@core/ops/registry'
import { BOUNDS, classOf, drawCases, primeUpTo } from './bench/fuzz/draw'

const all = OPS.map((op) => ({ op, dtypes: op.dtypes }))

it('draws the same cases from a seed, and others from another', () => {
  const cases = drawCases(7, 150, all)
  expect(drawCases(7, 150, all)).toEqual(cases)
  expect(drawCases(8, 150, all)).not.toEqual(cases)
})

it('draws every operation equally often, in sizes that it accepts and within the bounds', () => {
  const cases = drawCases(3, all.length * 6, all)
  for (const { op } of all) expect(cases.filter((one) => one.op === op.id)).toHaveLength(6)
  for (const { op: id, dtype, params } of cases) {
    const op = getOp(id)
    expect(op.dtypes).toContain(dtype)
    const parsed = op.params.parse(params)
    expect(Math.max(...tensorsOf(op, parsed, dtype).map(({ elements }) => elements))).toBeLessThanOrEqual(BOUNDS.elements)
    expect(op.flops(parsed)).toBeLessThanOrEqual(BOUNDS.flops)
    expect(classOf(op, parsed, dtype)).not.toBe('')
  }
})

it('spreads the sizes over the whole range, with extents of every style', () => {
  const only = all.filter(({ op }) => op.id === 'exp')
  const sizes = drawCases(11, 700, only).map(({ params }) => params['n'] as number)
  for (let exponent = 0; exponent < 28; exponent += 4) expect(sizes.filter((n) => Math.log2(n) >= exponent && Math.log2(n) < exponent + 4).length).toBeGreaterThan(50)
  const power = (n: number) => Number.isInteger(Math.log2(n))
  expect(sizes.filter(power).length).toBeGreaterThan(100)
  expect(sizes.filter((n) => power(n - 1)).length).toBeGreaterThan(80)
  expect(sizes.filter((n) => n % 2 === 1 && !power(n - 1)).length).toBeGreaterThan(150)
})

it('keeps within smaller bounds', () => {
  const cases = drawCases(5, 200, all, { elements: 2 ** 16, flops: 2 ** 24 })
  for (const { op, dtype, params } of cases) expect(Math.max(...tensorsOf(getOp(op), getOp(op).params.parse(params), dtype).map(({ elements }) => elements))).toBeLessThanOrEqual(2 ** 16)
})

it('finds primes', () => {
  expect([1, 2, 4, 100, 65536].map(primeUpTo)).toEqual([1, 2, 3, 97, 65521])
})

it('names the classes that launch choices distinguish', () => {
  const named = (op: string, params: Record<string, number | string>) => classOf(getOp(op), getOp(op).params.parse(params), 'bf16')
  expect(named('softmax', { rows: 1000, cols: 5 })).toBe('row operation, rows of 1-15')
  expect(named('softmax', { rows: 1000, cols: 1001 })).toBe('row operation, rows of 64-1023, unaligned')
  expect(named('sum', { rows: 3, cols: 1000, axis: 'first' })).toBe('reduction over the first axis, few rows')
  expect(named('matmul', { m: 1, n: 4096, k: 4096 })).toBe('matmul: m or n = 1')
  expect(named('matmul', { m: 32, n: 48, k: 30000 })).toBe('matmul: small m and n, long k')
})

const casesIn = (file: string) => JSON.parse(readFileSync(new URL(`./bench/fuzz/${file}.json`, import.meta.url), 'utf8')) as { op: string; dtype: Dtype; params: Params }[]

it('names shapes for sessions on a GPU that their operations accept, and branches small enough to be checked', () => {
  for (const [file, most] of [['branches', 2 ** 25], ['slow', 2 ** 30], ['webgpu-matrices', 2 ** 30]] as const) {
    const named = casesIn(file)
    expect(new Set(named.map((one) => JSON.stringify(one))).size).toBe(named.length)
    for (const { op: id, dtype, params } of named) {
      const op = getOp(id)
      expect(op.dtypes).toContain(dtype)
      expect(Math.max(...tensorsOf(op, op.params.parse(params), dtype).map(({ elements }) => elements)), `${id} ${JSON.stringify(params)}`).toBeLessThanOrEqual(most)
    }
  }
})

it('names wide shapes: tensors beyond 2^32 bytes, most beyond 2^32 elements, that fit the memory of the smallest GPU in use', () => {
  const wide = casesIn('wide').map(({ op: id, dtype, params }) => tensorsOf(getOp(id), getOp(id).params.parse(params), dtype).map((tensor) => ({ elements: tensor.elements, bytes: tensor.elements * STORAGE_BYTES[tensor.storage] })))
  for (const tensors of wide) expect(Math.max(...tensors.map(({ bytes }) => bytes))).toBeGreaterThan(2 ** 32)
  expect(wide.filter((tensors) => tensors.some(({ elements }) => elements > 2 ** 32)).length).toBeGreaterThan(40)
  expect(Math.max(...wide.map((tensors) => tensors.reduce((sum, { bytes }) => sum + bytes, 0)))).toBeLessThan(72e9)
})
