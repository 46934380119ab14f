import { describe, expect, it } from 'vitest'
import { OPS } from '@core/ops/registry'
import { KERNELS } from '../renderer/webgpu/kernels/registry'
import { bindingTypes } from '../renderer/webgpu/wgsl/header'
import { withConstants } from '../renderer/webgpu/wgsl/constants'
import { drawCases } from './bench/fuzz/draw'

const BOUNDS = { elements: 2 ** 26, flops: 2 ** 36 }
/** What is no number in WGSL, or no whole one where a u32 is meant. */
const NO_NUMBER = /\b(NaN|Infinity|undefined)\b|\d\.\d+u\b|[-]\d+u\b/

/** Bytes of a WGSL type in workgroup memory; vectors here have two or four elements. */
function bytesOf(type: string): number {
  const array = /^array<(.+), (\d+)>$/.exec(type)
  return array ? bytesOf(array[1]!) * Number(array[2]) : 4 * Number(/^vec(\d)</.exec(type)?.[1] ?? 1)
}
const workgroupBytes = (wgsl: string): number => [...wgsl.matchAll(/^var<workgroup> \w+: (.+);$/gm)].reduce((sum, [, type]) => sum + bytesOf(type!), 0)
/** What every adapter has (the specification's default limits). */
const MEMORY = 16_384

describe('the WGSL plans of drawn shapes', () => {
  const from = OPS.filter(({ id, family }) => family !== 'composite' && KERNELS.get(id)?.dtypes.includes('f32')).map((op) => ({ op, dtypes: ['f32' as const] }))
  it.each([[256, undefined], [1024, undefined], [1024, 32]])('have whole numbers in their texts, workgroups and scratch space: %s threads, subgroups of %s', (threads, subgroups) => {
    for (const { op: id, params } of drawCases(threads, 1500, from, BOUNDS)) {
      const { op } = from.find((one) => one.op.id === id)!
      const name = `${id} ${JSON.stringify(params)}`
      const program = withConstants(KERNELS.get(id)!.build({ dtype: 'f32', dims: op.dims(params), scalars: op.scalars?.(params) ?? [], threads, subgroups }))
      for (const { wgsl, buffers, dims, groups } of program.steps) {
        expect(NO_NUMBER.exec(wgsl)?.[0], name).toBeUndefined()
        expect([groups, ...dims].every((value) => Number.isInteger(value) && value >= 0), name).toBe(true)
        expect(groups, name).toBeGreaterThan(0)
        expect(bindingTypes(wgsl), name).toHaveLength(buffers.length + 1)
        expect(bindingTypes(wgsl).filter((type) => type !== 'uniform').length, name).toBeLessThanOrEqual(7)
        expect(workgroupBytes(wgsl), name).toBeLessThanOrEqual(MEMORY)
        expect(Number(/@workgroup_size\((\d+)\)/.exec(wgsl)![1]), name).toBeLessThanOrEqual(threads)
      }
      expect(program.scratchBytes.every((bytes) => Number.isInteger(bytes) && bytes > 0), name).toBe(true)
    }
  })
})
