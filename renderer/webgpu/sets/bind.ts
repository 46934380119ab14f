import type { Gpu } from '../gpu/gpu'
import type { Program } from '../kernels/types'
import type { Calls } from '../timing/calls'
import { bindingTypes, dispatchSize } from '../wgsl/header'
import { resourceOf, type Memory } from './memory'

/**
 * Compiles the steps and binds the buffers of every set once, so that encoding a call is a few commands. Behind its own
 * bindings every step has the device's fence: two steps that both name it as written run one after the other, also where
 * they have no buffer of the case in common, as calls on different sets.
 */
export async function bind(gpu: Gpu, program: Program, memory: Memory, ring: Ring): Promise<Calls> {
  const { device } = gpu
  const steps = await Promise.all(
    program.steps.map(async (step, i) => {
      const types: GPUBufferBindingType[] = [...bindingTypes(step.wgsl), 'storage']
      const layout = device.createBindGroupLayout({ entries: types.map((type, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } })) })
      const pipeline = await gpu.pipeline(step.wgsl, device.createPipelineLayout({ bindGroupLayouts: [layout] }))
      const groups = memory.sets.map((set) => {
        const resources: GPUBufferBinding[] = [...step.buffers.map((name) => resourceOf(memory, set, name, step.window)), { buffer: memory.uniforms[i]! }, { buffer: gpu.fence }]
        return device.createBindGroup({ layout, entries: resources.map((resource, binding) => ({ binding, resource })) })
      })
      return { pipeline, groups, size: dispatchSize(step.groups) }
    }),
  )
  return {
    dispatches: steps.length,
    encode(pass, count) {
      for (let call = 0; call < count; call++) {
        const set = ring.next()
        for (const { pipeline, groups, size } of steps) {
          if (call === 0 || steps.length > 1) pass.setPipeline(pipeline)
          if (call === 0 || steps.length > 1 || ring.size > 1) pass.setBindGroup(0, groups[set])
          pass.dispatchWorkgroups(...size)
        }
      }
    },
  }
}

/** Whose turn it is among the sets of buffers of a case, and which of them calls have used. */
export interface Ring {
  readonly size: number
  /** The set for the next call. */
  next(): number
  /** The set of the last call; the first one before any. */
  readonly last: number
  /** Sets that calls have used since `forget`; the last one where none was called. */
  used(): number[]
  forget(): void
}

export function createRing(size: number): Ring {
  let last: number | undefined
  let calls = 0
  return {
    size,
    next() {
      last = last === undefined ? 0 : (last + 1) % size
      calls++
      return last
    },
    get last() {
      return last ?? 0
    },
    used() {
      const end = last ?? 0
      return Array.from({ length: Math.max(1, Math.min(size, calls)) }, (_, back) => (end - back + size) % size)
    },
    forget() {
      calls = 0
    },
  }
}
