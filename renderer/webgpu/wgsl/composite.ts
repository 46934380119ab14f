import { STORAGE_BYTES, storageOf } from '@core/case'
import { inputsOf, outputsOf } from '@core/ops/define'
import type { CompositePart, Op, PartSource } from '@core/ops/types'
import type { BufferName, Kernel, KernelShape, Program, Step } from '../kernels/types'
import { mapped } from './mapped'

type View = Exclude<PartSource, string>

/** The elements of a strided view of four axes, one after the other; the last axis must be contiguous in its source. */
function gathered({ offset = 0, shape, strides }: View, dtype: KernelShape['dtype'], from: BufferName, to: BufferName): readonly Step[] {
  if (shape.length !== 4 || strides.at(-1) !== 1) throw new Error(`a view of shape ${shape.join('x')} and strides ${strides.join(', ')} has no kernel`)
  const numbers = [offset, shape[3]!, ...strides.slice(0, 3)]
  const width = numbers.every((value) => value % 4 === 0) ? 4 : 1
  const [start, inner, ...outer] = numbers.map((value) => value / width)
  const type = width === 4 ? 'own4' : 'own'
  const body = `  let line = i / dim(2u);
  out[i] = x[dim(1u) + i % dim(2u) + line % dim(3u) * dim(7u) + line / dim(3u) % dim(4u) * dim(6u) + line / dim(3u) / dim(4u) * dim(5u)];`
  return mapped({ tensors: [{ name: 'x', at: from, type }, { name: 'out', at: to, type, write: true }], body, dims: [start!, inner!, shape[2]!, shape[1]!, ...outer] }, dtype, shape.reduce((a, b) => a * b) / width).steps
}

/** Scratch buffers that are taken again once nothing reads them any more. */
class Scratch {
  readonly bytes: number[] = []
  readonly #free = new Set<number>()

  take(bytes: number): number {
    const fitting = [...this.#free].filter((at) => this.bytes[at]! >= bytes).sort((a, b) => this.bytes[a]! - this.bytes[b]!)[0]
    if (fitting === undefined) return this.bytes.push(bytes) - 1
    this.#free.delete(fitting)
    return fitting
  }

  giveBack(at: number): void {
    this.#free.add(at)
  }
}

/**
 * The parts of a composite op, one kernel after the other, what lies between them in scratch space. A part that reads a strided view
 * has it copied first. `tensors`: names of the composite's inputs in order.
 */
export function composed(tensors: readonly string[], parts: readonly CompositePart[], kernelOf: (op: Op) => Kernel, { dtype, subgroups, threads }: Pick<KernelShape, 'dtype' | 'subgroups' | 'threads'>): Program {
  const scratch = new Scratch()
  const steps: Step[] = []
  /** Where the outputs of parts are: scratch space by index. */
  const made = new Map<string, number>()
  const bytesOf = (elements: number) => Math.ceil((elements * STORAGE_BYTES[storageOf(dtype)]) / 16) * 16
  const nameOf = (source: PartSource) => (typeof source === 'string' ? source : source.of)
  const lastUse = new Map<string, number>()
  for (const [i, { inputs }] of parts.entries()) for (const source of Object.values(inputs)) lastUse.set(nameOf(source), i)

  for (const [i, { name, op, params, inputs }] of parts.entries()) {
    const p = op.params.parse(params)
    const views: number[] = []
    const sources = inputsOf(op, p, dtype).map((tensor): BufferName => {
      const source = inputs[tensor.name]!
      const slot = made.get(nameOf(source))
      const whole: BufferName = slot === undefined ? { input: tensors.indexOf(nameOf(source)) } : { scratch: slot }
      if (typeof source === 'string') return whole
      const view = scratch.take(bytesOf(tensor.elements))
      views.push(view)
      steps.push(...gathered(source, dtype, whole, { scratch: view }))
      return { scratch: view }
    })
    const [output] = outputsOf(op, p, dtype)
    const last = i === parts.length - 1
    const out: BufferName = last ? 'output' : { scratch: scratch.take(bytesOf(output!.elements)) }
    const program = kernelOf(op).build({ dtype, dims: op.dims(p), scalars: op.scalars?.(p) ?? [], subgroups, threads })
    // Not shared: partial results that workgroups join (arrivals.ts) need the zeros that they leave.
    const own = program.scratchBytes.map((bytes) => scratch.bytes.push(bytes) - 1)
    const placed = (buffer: BufferName): BufferName => (buffer === 'output' ? out : 'input' in buffer ? sources[buffer.input]! : 'output' in buffer ? out : { scratch: own[buffer.scratch]! })
    steps.push(...program.steps.map((step) => ({ ...step, buffers: step.buffers.map(placed) })))
    for (const slot of views) scratch.giveBack(slot)
    if (out !== 'output' && 'scratch' in out) made.set(`${name}.${output!.name}`, out.scratch)
    for (const [source, at] of made) {
      if ((lastUse.get(source) ?? -1) > i) continue
      scratch.giveBack(at)
      made.delete(source)
    }
  }
  return { scratchBytes: scratch.bytes, steps }
}
