/** One dispatch of a library's call, as it stood in its compute pass. */
export interface Dispatch {
  pipeline: GPUComputePipeline
  groups: readonly { index: number; group: GPUBindGroup; offsets: readonly number[] }[]
  size: readonly [number, number, number]
}

interface PassState {
  pipeline?: GPUComputePipeline
  groups: Map<number, { group: GPUBindGroup; offsets: readonly number[] }>
}

/**
 * The dispatches that `work` puts into compute passes, in order. Methods of the passes' prototype are watched meanwhile, so that
 * nothing else may compute in this page until it resolves. Rejects where a library dispatches from a buffer.
 */
export async function recordDispatches(work: () => Promise<void>): Promise<Dispatch[]> {
  const passes = GPUComputePassEncoder.prototype
  const { setPipeline, setBindGroup, dispatchWorkgroups, dispatchWorkgroupsIndirect } = passes
  const states = new WeakMap<GPUComputePassEncoder, PassState>()
  const recorded: Dispatch[] = []
  let indirect = false
  const stateOf = (pass: GPUComputePassEncoder): PassState => {
    const known = states.get(pass) ?? { groups: new Map() }
    states.set(pass, known)
    return known
  }
  passes.setPipeline = function (pipeline) {
    stateOf(this).pipeline = pipeline
    return setPipeline.call(this, pipeline)
  }
  passes.setBindGroup = function (this: GPUComputePassEncoder, index: number, group: GPUBindGroup, offsets?: Iterable<number> | Uint32Array, start?: number, length?: number) {
    const all = offsets ? [...offsets] : []
    stateOf(this).groups.set(index, { group, offsets: start === undefined ? all : all.slice(start, start + (length ?? 0)) })
    return (setBindGroup as (...given: unknown[]) => undefined).apply(this, [index, group, offsets, start, length].slice(0, start === undefined ? (offsets === undefined ? 2 : 3) : 5))
  } as typeof passes.setBindGroup
  passes.dispatchWorkgroups = function (x, y = 1, z = 1) {
    const { pipeline, groups } = stateOf(this)
    if (pipeline) recorded.push({ pipeline, groups: [...groups].map(([index, bound]) => ({ index, ...bound })), size: [x, y, z] })
    return dispatchWorkgroups.call(this, x, y, z)
  }
  passes.dispatchWorkgroupsIndirect = function (buffer, offset) {
    indirect = true
    return dispatchWorkgroupsIndirect.call(this, buffer, offset)
  }
  try {
    await work()
  } finally {
    Object.assign(passes, { setPipeline, setBindGroup, dispatchWorkgroups, dispatchWorkgroupsIndirect })
  }
  if (indirect) throw new Error('the library takes the size of a dispatch from a buffer, which cannot be repeated')
  return recorded
}

/** Puts the dispatches into a pass of ours. */
export function replay(pass: GPUComputePassEncoder, dispatches: readonly Dispatch[]): void {
  for (const { pipeline, groups, size } of dispatches) {
    pass.setPipeline(pipeline)
    for (const { index, group, offsets } of groups) pass.setBindGroup(index, group, offsets)
    pass.dispatchWorkgroups(...size)
  }
}
