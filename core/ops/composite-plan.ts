import { STORAGE_BYTES, type Dtype, type Params } from '../case'
import { joinParts, type View } from './composite-fusion'
import copyView, { MAX_VIEWS } from './copy_view/op'
import { inputsOf, tensorsOf } from './define'
import type { Op, Tensor } from './types'

/** What a part of a composite call reads or writes: a tensor of the composite by its place, or scratch memory between the parts. */
export type CompositeBuffer = { tensor: number } | { scratch: number }

/** One op of a composite call, with parsed parameters. */
export interface CompositeStep {
  /** Names of the parts that it computes; of the part that reads them, where strided views are copied for it. */
  name: string
  op: Op
  params: Params
  /** Where each tensor of `op` is, in its order. */
  buffers: readonly CompositeBuffer[]
}

/** The ops that compute a composite, one after the other, and the scratch memory between them. The last one writes the composite's output. */
export interface CompositePlan {
  steps: readonly CompositeStep[]
  /** Bytes of each scratch buffer: whole multiples of 16. */
  scratchBytes: readonly number[]
}

/** Scratch buffers that are taken again once nothing reads them any more: the smallest that fits, else the largest, which grows. */
class Scratch {
  readonly bytes: number[] = []
  readonly #free = new Set<number>()

  take({ elements, storage }: Tensor): { scratch: number } {
    const bytes = Math.ceil((elements * STORAGE_BYTES[storage]) / 16) * 16
    const free = [...this.#free].sort((a, b) => this.bytes[a]! - this.bytes[b]!)
    const taken = free.find((at) => this.bytes[at]! >= bytes) ?? free.at(-1)
    if (taken === undefined) return { scratch: this.bytes.push(bytes) - 1 }
    this.#free.delete(taken)
    this.bytes[taken] = Math.max(this.bytes[taken]!, bytes)
    return { scratch: taken }
  }

  giveBack(buffers: readonly CompositeBuffer[]): void {
    for (const buffer of buffers) if ('scratch' in buffer) this.#free.add(buffer.scratch)
  }
}

const namesOf = (source: string | View) => (typeof source === 'string' ? [source] : [source.of, ...(source.bias ? [source.bias.of] : [])])
const same = (a: readonly number[], b: readonly number[]) => a.length === b.length && a.every((value, i) => value === b[i])

/** What a part reads of a source, by the tensors that read it. */
interface Copied {
  view: View
  /** Distance of the views in the source, where there are several. */
  distance: number
  tensors: string[]
}

/** The views that a part reads, those of one source at equal distances together. */
function viewsOf(inputs: Readonly<Record<string, string | View>>): Copied[] {
  const groups: Copied[] = []
  for (const [tensor, view] of Object.entries(inputs)) {
    if (typeof view === 'string') continue
    const group = groups.at(-1)
    const distance = group ? (view.offset ?? 0) - (group.view.offset ?? 0) - (group.tensors.length - 1) * group.distance : 0
    const joins = group && group.view.of === view.of && group.view.bias?.of === view.bias?.of && same(group.view.shape, view.shape) && same(group.view.strides, view.strides) && group.tensors.length < MAX_VIEWS && distance > 0 && (group.tensors.length === 1 || distance === group.distance)
    if (joins) {
      group.tensors.push(tensor)
      group.distance = distance
    } else groups.push({ view, distance: 0, tensors: [tensor] })
  }
  return groups
}

/** Parameters of the copies of some views of a source of `elements` elements. */
function copyParams({ view: { offset = 0, shape, strides, bias }, distance, tensors }: Copied, elements: number): Params {
  if (shape.length !== 4 || strides.at(-1) !== 1) throw new Error(`a view of shape ${shape.join('x')} and strides ${strides.join(', ')} cannot be copied: expected four axes, the last contiguous`)
  const [batch, heads, seq, headDim] = shape
  const [batchStride, headStride, tokenStride] = strides
  return copyView.params.parse({ batch, heads, seq, headDim, batchStride, headStride, tokenStride, views: tensors.length, distance, offset, elements, bias: bias !== undefined })
}

/**
 * How a composite op with parsed parameters is computed: its parts in order, some of them joined (composite-fusion.ts), before each one
 * copies of the strided views that it reads. A scratch buffer is taken again once the last part that reads it is done.
 */
export function planComposite(op: Op, p: Params, dtype: Dtype): CompositePlan {
  const parts = joinParts(op.parts?.(p) ?? [])
  const own = tensorsOf(op, p, dtype)
  const scratch = new Scratch()
  const steps: CompositeStep[] = []
  /** Where the composite's inputs and the outputs of parts are, and how many elements they have. */
  const made = new Map(own.flatMap(({ name, role, elements }, tensor) => (role === 'out' ? [] : [[name, { at: { tensor } as CompositeBuffer, elements }] as const])))
  const placeOf = (source: string) => {
    const place = made.get(source)
    if (!place) throw new Error(`a part of ${op.id} reads "${source}", which is no tensor and no output of an earlier part`)
    return place
  }
  const lastUse = new Map(parts.flatMap(({ inputs }, i) => Object.values(inputs).flatMap((source) => namesOf(source).map((name) => [name, i] as const))))

  for (const [i, { name, title, op: part, params, inputs }] of parts.entries()) {
    const parsed = part.params.parse(params)
    const reads = new Map(inputsOf(part, parsed, dtype).map((tensor) => [tensor.name, tensor]))
    const copies = new Map<string, CompositeBuffer>()
    for (const group of viewsOf(inputs)) {
      const source = placeOf(group.view.of)
      const outputs = group.tensors.map((tensor) => scratch.take(reads.get(tensor)!))
      const { bias } = group.view
      steps.push({ name: bias?.part ?? title, op: copyView, params: copyParams(group, source.elements), buffers: [source.at, ...(bias ? [placeOf(bias.of).at] : []), ...outputs] })
      for (const [v, tensor] of group.tensors.entries()) copies.set(tensor, outputs[v]!)
    }
    const unread: CompositeBuffer[] = [...copies.values()]
    const last = i === parts.length - 1
    let outputs = 0
    const buffers = tensorsOf(part, parsed, dtype).map((tensor): CompositeBuffer => {
      if (tensor.role === 'in') return copies.get(tensor.name) ?? placeOf(inputs[tensor.name] as string).at
      if (tensor.role === 'inout') throw new Error(`${part.id} changes ${tensor.name}: it cannot be a part of ${op.id}`)
      // The first output is what others read; of the last part it is the composite's.
      const first = outputs++ === 0
      const at: CompositeBuffer = first && last ? { tensor: own.findIndex(({ role }) => role === 'out') } : scratch.take(tensor)
      if (first) made.set(`${name}.${tensor.name}`, { at, elements: tensor.elements })
      else unread.push(at)
      return at
    })
    steps.push({ name: title, op: part, params: parsed, buffers })
    scratch.giveBack(unread)
    for (const [source, { at }] of made) {
      if ('tensor' in at || (lastUse.get(source) ?? -1) > i) continue
      scratch.giveBack([at])
      made.delete(source)
    }
  }
  return { steps, scratchBytes: scratch.bytes }
}

/** Bytes of scratch memory that a call needs between its parts; 0 where the op is no composite. */
export const scratchBytes = (op: Op, p: Params, dtype: Dtype): number => (op.parts ? planComposite(op, p, dtype).scratchBytes.reduce((sum, bytes) => sum + bytes, 0) : 0)

/** The dtypes in which an implementation has kernels for every part of a composite op, by what it has for each op. */
export function joinedDtypes(op: Op, kernels: Readonly<Record<string, readonly Dtype[]>>): Dtype[] {
  const smallest = op.params.parse(Object.fromEntries(op.size.extents.flatMap(({ name, default: usual }) => (usual === undefined ? [[name, 1]] : []))))
  return op.dtypes.filter((dtype) => planComposite(op, smallest, dtype).steps.every(({ op: part }) => kernels[part.id]?.includes(dtype)))
}
