import { describe, expect, it } from 'vitest'
import { OPS } from '@core/ops/registry'
import { implementationsOf, KERNELS } from '../renderer/webgpu/kernels/registry'
import type { Program } from '../renderer/webgpu/kernels/types'
import { bindingTypes, dispatchSize } from '../renderer/webgpu/wgsl/header'
import { withConstants } from '../renderer/webgpu/wgsl/constants'
import { createRandom } from '@core/stats/random'
import { drawCases, type Drawn } from './bench/fuzz/draw'

const BOUNDS = { elements: 2 ** 26, flops: 2 ** 36 }
/** What is no number in WGSL, or no whole one where a u32 is meant. */
const NO_NUMBER = /\b(NaN|Infinity|undefined)\b|\d\.\d+u\b|[-]\d+u\b/
/** The limits that every adapter has (the specification's defaults); one storage buffer of the eight is the fence of a step. */
const FLOOR = { storageBuffers: 7, workgroupBytes: 16_384, uniformBytes: 65_536, groups: 65_535 }

const SCALARS: Readonly<Record<string, number>> = { f32: 4, i32: 4, u32: 4, 'atomic<u32>': 4, f16: 2 }

/** Bytes of a WGSL type that a variable of the module is declared with. */
function bytesOf(type: string, wgsl: string): number {
  const array = /^array<(.+), (\d+)>$/.exec(type)
  if (array) return bytesOf(array[1]!, wgsl) * Number(array[2])
  const vector = /^vec([2-4])<(.+)>$/.exec(type)
  if (vector) return bytesOf(vector[2]!, wgsl) * (vector[1] === '3' ? 4 : Number(vector[1]))
  const members = new RegExp(`struct ${type} \\{(.+?)\\}`, 's').exec(wgsl)
  if (members) return [...members[1]!.matchAll(/\w+: (.+?)(?=, \w+: |$)/g)].reduce((sum, [, member]) => sum + bytesOf(member!.trim(), wgsl), 0)
  const bytes = SCALARS[type]
  if (bytes === undefined) throw new Error(`the size of ${type} is not known here`)
  return bytes
}
const declared = (wgsl: string, variable: RegExp): number[] => [...wgsl.matchAll(variable)].map(([, type]) => bytesOf(type!, wgsl))

/** Expects what every device can run, with workgroups of up to `threads`. */
function expectWithinFloor({ steps, scratchBytes }: Program, threads: number, name: string): void {
  for (const { wgsl, buffers, dims, groups } of steps) {
    expect(NO_NUMBER.exec(wgsl)?.[0], name).toBeUndefined()
    expect([groups, ...dims].every((value) => Number.isInteger(value) && value >= 0), name).toBe(true)
    expect(groups, name).toBeGreaterThan(0)
    expect(Math.max(...dispatchSize(groups)), name).toBeLessThanOrEqual(FLOOR.groups)
    const types = bindingTypes(wgsl)
    expect(types, name).toHaveLength(buffers.length + 1)
    expect(types.filter((type) => type !== 'uniform').length, name).toBeLessThanOrEqual(FLOOR.storageBuffers)
    expect(declared(wgsl, /^var<workgroup> \w+: (.+);$/gm).reduce((sum, bytes) => sum + bytes, 0), name).toBeLessThanOrEqual(FLOOR.workgroupBytes)
    for (const bytes of declared(wgsl, /var<uniform> \w+: (.+);$/gm)) expect(bytes, name).toBeLessThanOrEqual(FLOOR.uniformBytes)
    expect(/@workgroup_size\(([\d, ]+)\)/.exec(wgsl)![1]!.split(',').reduce((product, size) => product * Number(size), 1), name).toBeLessThanOrEqual(threads)
  }
  expect(scratchBytes.every((bytes) => Number.isInteger(bytes) && bytes > 0), name).toBe(true)
}

const OPERATIONS = OPS.filter(({ id }) => KERNELS.has(id))
const from = OPERATIONS.filter(({ family }) => family !== 'composite').map((op) => ({ op, dtypes: KERNELS.get(op.id)!.dtypes }))

/** Blocks of a transformer, whose extents depend on each other. */
function drawBlocks(seed: number, count: number): Drawn[] {
  const random = createRandom(seed)
  const upTo = (most: number) => Math.ceil(most ** random())
  return Array.from({ length: count }, (_, i): Drawn => {
    const heads = upTo(16)
    return { op: 'transformer_block', dtype: i % 2 === 0 ? 'f32' : 'f16', params: { batch: upTo(8), seq: upTo(1500), heads, dim: heads * upTo(160), mlpRatio: upTo(5) } }
  })
}

describe('the WGSL plans of drawn shapes', () => {
  it.each([[256, undefined], [256, 4], [1024, undefined], [1024, 32]])('keep every limit to the floor of the specification: %s threads, subgroups of %s', (threads, subgroups) => {
    const seed = threads + (subgroups ?? 0)
    const seen = new Set<string>()
    for (const { op: id, dtype, params } of [...drawCases(seed, 2500, from, BOUNDS), ...drawBlocks(seed, 50)]) {
      const op = OPERATIONS.find((one) => one.id === id)!
      for (const { id: impl, kernels } of implementationsOf(false)) {
        const kernel = kernels.get(id)
        if (!kernel?.dtypes.includes(dtype)) continue
        seen.add(id)
        const program = kernel.build({ dtype, dims: op.dims(op.params.parse(params)), scalars: op.scalars?.(params) ?? [], threads, subgroups })
        expectWithinFloor(withConstants(program), threads, `${impl} ${id} ${dtype} ${JSON.stringify(params)}`)
      }
    }
    expect([...seen].sort()).toEqual(OPERATIONS.map(({ id }) => id).sort())
  })
})
