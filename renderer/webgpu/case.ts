import { CaseError, type MemoryUse, type PreparedCase, type Problem } from '@core/backend'
import type { Gpu } from './gpu/gpu'
import { guarded } from './gpu/gpu'
import { checkSize, countSentinels, createTensor, createUniform, fillTensor, poisonTensor, readTensor, type Tensor } from './gpu/tensors'
import { KERNELS } from './kernels/registry'
import { runs, type BufferName, type Program } from './kernels/types'
import type { Calls } from './timing/calls'
import type { Clock } from './timing/clock'
import { dispatchSize } from './wgsl/header'

/** Everything of a case that lies on the device. */
interface Memory {
  inputs: Tensor[]
  output: Tensor
  scratch: GPUBuffer[]
  uniforms: GPUBuffer[]
}

/** The steps of a problem. Throws a CaseError where there is no kernel for it. */
export function programFor(problem: Problem, shaderF16: boolean): Program {
  const { op, dtype, mode } = problem.case
  const kernel = KERNELS.get(op)
  if (!kernel) throw new CaseError('unsupported', `There is no WGSL kernel for "${op}".`)
  if (!kernel.dtypes.includes(dtype)) throw new CaseError('unsupported', `The WGSL kernel of "${op}" has no ${dtype}; it has ${kernel.dtypes.join(', ')}.`)
  if (!runs(kernel, dtype, shaderF16)) throw new CaseError('unsupported', 'This WebGPU adapter has no shader-f16, which f16 needs.')
  if (mode === 'graph') throw new CaseError('unsupported', 'WebGPU has no graphs of calls; choose cold or hot.')
  return kernel.build({ dtype, dims: problem.dims })
}

function allocate(gpu: Gpu, problem: Problem, program: Program): Memory {
  const { dtype } = problem.case
  const scratch = program.scratchBytes.map((bytes, i) => {
    const size = Math.ceil(bytes / 16) * 16
    checkSize(gpu, size, `Scratch space ${i}`)
    return gpu.device.createBuffer({ size, usage: GPUBufferUsage.STORAGE, label: `scratch ${i}` })
  })
  const inputs = problem.inputs.map(({ elements }, i) => createTensor(gpu, elements, dtype, `input ${i}`))
  const output = createTensor(gpu, problem.outputElements, dtype, 'output')
  const uniforms = program.steps.map(({ dims }) => createUniform(gpu, new Uint32Array([...dims, ...Array<number>(8 - dims.length).fill(0)])))
  return { inputs, output, scratch, uniforms }
}

const bufferOf = (memory: Memory, name: BufferName): GPUBuffer =>
  name === 'output' ? memory.output.buffer : 'input' in name ? memory.inputs[name.input]!.buffer : memory.scratch[name.scratch]!

/** Compiles the steps and binds their buffers once, so that encoding a call is a few commands. */
async function bind(gpu: Gpu, program: Program, memory: Memory): Promise<Calls> {
  const pipelines = await Promise.all(program.steps.map(({ wgsl }) => gpu.pipeline(wgsl)))
  const bound = program.steps.map((step, i) => {
    const pipeline = pipelines[i]!
    const buffers = [...step.buffers.map((name) => bufferOf(memory, name)), memory.uniforms[i]!]
    const group = gpu.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })) })
    return { pipeline, group, size: dispatchSize(step.groups) }
  })
  return {
    dispatches: bound.length,
    encode(pass, count) {
      for (let call = 0; call < count; call++) {
        for (const { pipeline, group, size } of bound) {
          if (call === 0 || bound.length > 1) {
            pass.setPipeline(pipeline)
            pass.setBindGroup(0, group)
          }
          pass.dispatchWorkgroups(...size)
        }
      }
    },
  }
}

function release({ inputs, output, scratch, uniforms }: Memory): void {
  for (const buffer of [...inputs.map((tensor) => tensor.buffer), output.buffer, ...scratch, ...uniforms]) buffer.destroy()
}

const sizeOf = ({ inputs, output, scratch }: Memory) => [...inputs.map((tensor) => tensor.buffer), output.buffer, ...scratch].reduce((sum, buffer) => sum + buffer.size, 0)

function notesFor(problem: Problem, clock: Clock): string[] {
  const notes: string[] = []
  if (clock.timer === 'wall-clock') notes.push('Timed with the page\'s clock: the adapter has no timestamp queries, so submission and waiting are in every time.')
  if (clock.quantized) notes.push('Chromium rounded the timestamps to 65.536 µs.')
  if (problem.case.mode === 'cold' && clock.passCostNs !== undefined) {
    notes.push(`A cold call is timed in a compute pass of its own; a pass alone costs about ${+(clock.passCostNs / 1000).toPrecision(2)} µs on this device.`)
  }
  return notes
}

const fillInputs = (gpu: Gpu, problem: Problem, memory: Memory, seed: number): Promise<void> =>
  guarded(gpu, 'filling the inputs', async () => {
    for (const [stream, tensor] of memory.inputs.entries()) await fillTensor(gpu, tensor, seed, stream, problem.inputs[stream]!.fill)
    await gpu.device.queue.onSubmittedWorkDone()
  })

/** Allocates, compiles and fills one case. Throws a CaseError and leaves nothing behind when any of it fails. */
export async function openCase(gpu: Gpu, clock: Clock, problem: Problem): Promise<PreparedCase> {
  const program = programFor(problem, gpu.device.features.has('shader-f16'))
  const memory = await guarded(gpu, 'allocating the tensors', async () => allocate(gpu, problem, program))
  try {
    const calls = await guarded(gpu, 'compiling the kernel', () => bind(gpu, program, memory))
    await fillInputs(gpu, problem, memory, problem.seed)
    return prepared(gpu, clock, problem, memory, calls)
  } catch (error) {
    release(memory)
    throw error
  }
}

function prepared(gpu: Gpu, clock: Clock, problem: Problem, memory: Memory, calls: Calls): PreparedCase {
  const timer = clock.forCase(calls, memory.output.buffer)
  return {
    timer: clock.timer,
    tickNs: clock.tickNs,
    notes: notesFor(problem, clock),
    refill: (seed) => fillInputs(gpu, problem, memory, seed),
    poison: () => guarded(gpu, 'marking the output', () => poisonTensor(gpu, memory.output)),
    run: () =>
      guarded(gpu, 'running the kernel', async () => {
        const encoder = gpu.device.createCommandEncoder()
        const pass = encoder.beginComputePass()
        calls.encode(pass, 1)
        pass.end()
        gpu.device.queue.submit([encoder.finish()])
        await gpu.device.queue.onSubmittedWorkDone()
      }),
    countUnwritten: () => guarded(gpu, 'searching the output for holes', () => countSentinels(gpu, memory.output)),
    read: (start, count) => guarded(gpu, 'reading the output', () => readTensor(gpu, memory.output, start, count)),
    sample: ({ mode, count, inner }) =>
      guarded(gpu, 'timing the kernel', async () => ({ samplesNs: mode === 'cold' ? await timer.cold(count) : await timer.hot(count, inner), state: {} })),
    memory: (): MemoryUse => ({ caseBytes: sizeOf(memory) }),
    async dispose() {
      release(memory)
    },
  }
}
