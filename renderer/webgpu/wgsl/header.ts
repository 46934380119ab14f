import type { Dtype } from '@core/case'
import { MAX_STEP_DIMS, MAX_STEP_SCALARS, type BufferName, type Step } from '../kernels/types'

/** Threads per workgroup of every kernel: the most that WebGPU promises. */
export const THREADS = 256

/** Bytes of workgroup memory of every adapter. */
export const WORKGROUP_BYTES = 16_384

/** Elements a thread moves at once. */
export type Width = 1 | 4

/** Storage type in WGSL: `f32`, `vec4<f16>`, ... */
export const storage = (dtype: Dtype, width: Width): string => {
  const scalar = dtype === 'f16' ? 'f16' : 'f32'
  return width === 4 ? `vec4<${scalar}>` : scalar
}

/** Type the arithmetic is done in: f32 whatever the storage. */
export const working = (width: Width): string => (width === 4 ? 'vec4<f32>' : 'f32')

/** Widest access that keeps every row of `length` elements aligned. */
export const widthFor = (length: number): Width => (length % 4 === 0 ? 4 : 1)

export interface Binding {
  name: string
  /** Element type in WGSL. */
  type: string
  write?: boolean
  /** Read through a uniform of so many vectors of four f32, where storage buffers are too few: elements as `uniformAt` has them. */
  uniform?: number
}

/** Element `at` of a tensor that is bound as a uniform. */
export const uniformAt = (name: string, at: string): string => `${name}[(${at}) / 4u][(${at}) % 4u]`

/**
 * Directives, bindings and the helpers every kernel uses. `dims` is the uniform after the last buffer;
 * `group_index` undoes the two-dimensional dispatch that many workgroups need.
 */
export function header(bindings: readonly Binding[], f16: boolean, subgroups = false): string {
  const buffers = bindings.map((b, i) => b.uniform !== undefined ? `@group(0) @binding(${i}) var<uniform> ${b.name}: array<vec4<f32>, ${b.uniform}>;` : `@group(0) @binding(${i}) var<storage, ${b.write ? 'read_write' : 'read'}> ${b.name}: array<${b.type}>;`)
  return `${f16 ? 'enable f16;\n' : ''}${subgroups ? 'enable subgroups;\n' : ''}${buffers.join('\n')}
@group(0) @binding(${bindings.length}) var<uniform> dims: array<vec4<u32>, ${(MAX_STEP_DIMS + MAX_STEP_SCALARS) / 4}>;
fn dim(i: u32) -> u32 { return dims[i / 4u][i % 4u]; }
fn scalar(i: u32) -> f32 { return bitcast<f32>(dims[${MAX_STEP_DIMS / 4}u + i / 4u][i % 4u]); }
fn group_index(id: vec3<u32>, count: vec3<u32>) -> u32 { return id.y * count.x + id.x; }
`
}

/** Entry point of a kernel with THREADS or fewer threads; the body sees `group` (workgroup number) and `lane`. */
export const entry = (body: string, threads = THREADS): string => `
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(num_workgroups) group_count: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let group = group_index(group_id, group_count);
${body}
}
`

const MAX_GROUPS_PER_DIMENSION = 65535

/** Workgroup counts for a dispatch of at least `groups`; beyond 65,535 the second dimension is used. */
export function dispatchSize(groups: number): [x: number, y: number] {
  const y = Math.ceil(groups / MAX_GROUPS_PER_DIMENSION)
  return y <= 1 ? [groups, 1] : [Math.ceil(groups / y), y]
}

/** A step whose buffers stand in the order of its bindings. */
export const step = (wgsl: string, buffers: readonly BufferName[], dims: readonly number[], groups: number, scalars: readonly number[] = []): Step => ({ wgsl, buffers, dims, groups, scalars })

const DECLARED = /@group\(0\) @binding\((\d+)\)\s+var<(storage, read_write|storage, read|uniform)>/g

const TYPES: Readonly<Record<string, GPUBufferBindingType>> = { 'storage, read_write': 'storage', 'storage, read': 'read-only-storage', uniform: 'uniform' }

/**
 * How the bindings 0.. of a module are used, in order. A layout made from the text keeps bindings that the code does not
 * use and can have more of them, which an automatic one cannot. Throws when the numbers leave a gap.
 */
export function bindingTypes(wgsl: string): GPUBufferBindingType[] {
  return [...wgsl.matchAll(DECLARED)].map(([, number, use], i) => {
    const type = TYPES[use ?? '']
    if (Number(number) !== i || !type) throw new Error(`the module declares binding ${number} as its ${i + 1}. one; bindings are expected in order from 0`)
    return type
  })
}

/** 0 up to `count` - 1. */
export const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i)
