import type { SubgroupMatrices } from '../kernels/types'
import { SUBGROUP_MATRIX } from './adapter'

/** Counts threads that do not lie in their subgroup as in the workgroup, or whose subgroup is smaller than said. */
const PROBE = (size: number) => `enable subgroups;
@group(0) @binding(0) var<storage, read_write> odd: atomic<u32>;
@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(subgroup_invocation_id) place: u32, @builtin(subgroup_size) size: u32) {
  if (size < ${size}u || lane % size != place) { atomicAdd(&odd, 1u); }
}
`

/** Below this, shuffles save nothing. */
const LEAST = 4

/**
 * Threads of the smallest subgroup that shaders may see on this device, where kernels may use subgroups: WGSL leaves open which threads
 * of a workgroup share one, so a shader looks. Undefined where the feature or the size is missing, or neighbours are apart.
 */
export async function findSubgroups(device: GPUDevice, info: GPUAdapterInfo): Promise<number | undefined> {
  // Chromium 130 says the size among the limits.
  const size = (info as Partial<GPUAdapterInfo>).subgroupMinSize ?? (device.limits as { minSubgroupSize?: number }).minSubgroupSize ?? 0
  if (!device.features.has('subgroups') || size < LEAST) return undefined
  const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute: { module: device.createShaderModule({ code: PROBE(size) }), entryPoint: 'main' } })
  const odd = device.createBuffer({ size: 4, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC })
  const read = device.createBuffer({ size: 4, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ })
  try {
    const encoder = device.createCommandEncoder()
    const pass = encoder.beginComputePass()
    pass.setPipeline(pipeline)
    pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: [{ binding: 0, resource: { buffer: odd } }] }))
    pass.dispatchWorkgroups(64)
    pass.end()
    encoder.copyBufferToBuffer(odd, 0, read, 0, 4)
    device.queue.submit([encoder.finish()])
    await read.mapAsync(GPUMapMode.READ)
    return new Uint32Array(read.getMappedRange())[0] === 0 ? size : undefined
  } finally {
    odd.destroy()
    read.destroy()
  }
}

/** A configuration as Chromium's experiment lists it. */
interface MatrixConfiguration {
  componentType: string
  resultComponentType: string
  M: number
  N: number
  K: number
}

/** An adapter's own words, as far as they concern subgroups; the types of WebGPU do not know all of them yet. */
export interface SubgroupWords {
  subgroupMinSize?: number
  subgroupMaxSize?: number
  subgroupMatrixConfigs?: Iterable<MatrixConfiguration>
}

const isUsed = (component: string, result: string): boolean => (component === 'f16' && result === 'f32') || (component === 'i8' && result === 'i32')

/**
 * The products of matrices that kernels may have subgroups do: with the feature, and where all subgroups have as many threads, because
 * a matrix lies in those of a whole one. `subgroups` is what `findSubgroups` found.
 */
export function matricesFor(features: Pick<ReadonlySet<string>, 'has'>, words: SubgroupWords, subgroups: number | undefined): readonly SubgroupMatrices[] | undefined {
  if (subgroups === undefined || words.subgroupMaxSize !== subgroups || !features.has(SUBGROUP_MATRIX)) return undefined
  const used = [...(words.subgroupMatrixConfigs ?? [])].filter(({ componentType, resultComponentType }) => isUsed(componentType, resultComponentType))
  if (used.length === 0) return undefined
  return used.map(({ componentType, resultComponentType, M, N, K }) => ({ component: componentType as SubgroupMatrices['component'], result: resultComponentType as SubgroupMatrices['result'], m: M, n: N, k: K }))
}
