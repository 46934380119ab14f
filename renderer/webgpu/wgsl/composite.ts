import { planComposite } from '@core/ops/composite-plan'
import { inputsOf, tensorsOf } from '@core/ops/define'
import type { Op } from '@core/ops/types'
import type { Dtype, Params } from '@core/case'
import type { BufferName, DeviceLimits, Kernel, Program, Step } from '../kernels/types'

/** The kernels of the ops that compute a composite, one after the other, what lies between them in scratch space. */
export function composed(op: Op, p: Params, kernelOf: (op: Op) => Kernel, { dtype, subgroups, matrices, threads, workgroupBytes }: { dtype: Dtype } & DeviceLimits): Program {
  const plan = planComposite(op, p, dtype)
  const bytes = [...plan.scratchBytes]
  const filled = inputsOf(op, p, dtype).map(({ name }) => name)
  const own = tensorsOf(op, p, dtype).map(({ name, role }): BufferName => (role === 'out' ? 'output' : { input: filled.indexOf(name) }))
  const steps = plan.steps.flatMap(({ op: part, params, buffers }): Step[] => {
    const places = buffers.map((buffer): BufferName => ('tensor' in buffer ? own[buffer.tensor]! : buffer))
    const roles = tensorsOf(part, params, dtype).map(({ role }) => role)
    const [read, written] = [places.filter((_, i) => roles[i] !== 'out'), places.filter((_, i) => roles[i] !== 'in')]
    const program = kernelOf(part).build({ dtype, dims: part.dims(params), scalars: part.scalars(params), subgroups, matrices, threads, workgroupBytes })
    // Not shared: partial results that workgroups join (arrivals.ts) need the zeros that they leave.
    const scratch = program.scratchBytes.map((size) => bytes.push(size) - 1)
    const placed = (buffer: BufferName): BufferName => {
      if (buffer === 'output') return written[0]!
      if ('input' in buffer) return read[buffer.input]!
      return 'output' in buffer ? written[buffer.output]! : { scratch: scratch[buffer.scratch]! }
    }
    return program.steps.map((step) => ({ ...step, buffers: step.buffers.map(placed) }))
  })
  return { scratchBytes: bytes, steps }
}
