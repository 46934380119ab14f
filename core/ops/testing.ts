import type { Dtype, Params } from '../case'
import { fillRange } from '../values/random'
import { inputsOf, canonicalParams } from './define'
import type { Op, ReadInput } from './types'

/** Reads the inputs that every backend makes for this op and seed, generated on demand. */
export function generatedInputs(op: Op, params: Params, dtype: Dtype, seed: number): ReadInput {
  const tensors = inputsOf(op, op.params.parse(params), dtype)
  return (input, start, count) => {
    const tensor = tensors[input]
    if (!tensor?.fill) throw new Error(`"${op.id}" reads input ${input}; it fills ${tensors.length} tensors`)
    return fillRange(seed, input, tensor.fill, tensor.storage, start, count)
  }
}

/** Reads given tensors; for small results worked out by hand. */
export function givenInputs(...tensors: readonly (readonly number[])[]): ReadInput {
  return (input, start, count) => {
    const tensor = tensors[input]!
    if (start + count > tensor.length) throw new RangeError(`read of ${start}..${start + count} from input ${input} with ${tensor.length} elements`)
    return Float32Array.from(tensor.slice(start, start + count))
  }
}

/** Step of the differences: f32 inputs near 1 hold it with three digits to spare. */
const STEP = 2 ** -10

/**
 * Slopes of sum(grad * out) of a forward op by each of the first `count` elements of input `input`, as central differences of
 * its reference: what a backward op gives, by another way, to about three digits.
 */
export function differences(op: Op, params: Params, read: ReadInput, input: number, count: number, grad: readonly number[]): Float64Array {
  const objective = (at: number, shift: number) => {
    const moved: ReadInput = (from, start, length) => {
      const values = Float32Array.from(read(from, start, length))
      if (from === input && at >= start && at < start + length) values[at - start]! += shift
      return values
    }
    return op.reference(params, moved, 0, grad.length).reduce((sum, value, i) => sum + value * grad[i]!, 0)
  }
  return Float64Array.from({ length: count }, (_, at) => (objective(at, STEP) - objective(at, -STEP)) / (2 * STEP))
}

/** Extents by name for tests of every op: a plain size and an odd one. Names that an op does not have are left out, and so are extents with a default. */
const PLAIN: Params = {
  n: 256, rows: 12, cols: 64, tokens: 12, dim: 64, classes: 64, m: 16, k: 8, batch: 2, heads: 4, seq: 12, seqQ: 16, headDim: 8, channels: 8, height: 8, width: 8, depth: 4, length: 16,
  filters: 8, kernel: 3, kernelHeight: 3, kernelWidth: 3, indices: 24, iterations: 100, ns: 1000,
}
const ODD: Params = {
  n: 127, rows: 7, cols: 13, tokens: 7, dim: 13, classes: 13, m: 5, k: 3, batch: 3, heads: 2, seq: 5, seqQ: 5, headDim: 6, channels: 6, height: 7, width: 5, depth: 3, length: 11,
  filters: 4, kernel: 2, kernelHeight: 3, kernelWidth: 2, indices: 5, iterations: 37, ns: 1001,
}
/** Also names extents and whole attributes that have a default. */
const WRITTEN: Params = {
  ...ODD, n: 130, dim: 12, batch: 2, heads: 4, seqK: 9, kvHeads: 2, height: 9, width: 8, kernel: 3, stride: 2, dilation: 2, padding: 1, paddingHeight: 2, paddingWidth: 1, groups: 2, outHeight: 4, outWidth: 3, mlpRatio: 2,
}

/** Every combination of the words and flags of an op's attributes; numbers stay at their default. */
export const attributeChoices = (op: Op): Params[] =>
  Object.entries(op.attributes).reduce<Params[]>((all, [name, spec]) => {
    const values = spec.kind === 'choice' ? spec.words : spec.kind === 'flag' ? [false, true] : undefined
    return values ? all.flatMap((params) => values.map((value) => ({ ...params, [name]: value }))) : all
  }, [{}])

/** Small sizes of an op with every choice of its attributes, for tests; those that the op refuses are left out. */
export const exampleParams = (op: Op): Params[] => fitting(op, [required(op, PLAIN), required(op, ODD), ...written(op)], attributeChoices(op))

/** Odd sizes with every choice of the op's attributes, and once with every number away from its default: what PyTorch is asked for (test/fixtures/torch). */
export function fixtureParams(op: Op): Params[] {
  const moved = Object.entries(op.attributes).flatMap(([name, spec]) => (spec.kind === 'number' && !spec.whole ? [[name, Math.fround(Math.min(spec.default * 0.75 + 0.0625, spec.max))] as const] : []))
  const choices = attributeChoices(op)
  return fitting(op, [required(op, ODD), ...written(op)], moved.length > 0 ? [...choices, { ...choices[0], ...Object.fromEntries(moved) }] : choices)
}

/** The extents that an op's cases must name. */
const required = (op: Op, extents: Params): Params => picked(extents, op.size.extents.flatMap(({ name, default: usual }) => (usual === undefined ? [name] : [])))

/** The size that names everything, for ops that have something to leave out. */
function written(op: Op): Params[] {
  const whole = Object.entries(op.attributes).flatMap(([name, spec]) => (spec.kind === 'number' && spec.whole ? [name] : []))
  return whole.length > 0 || op.size.extents.some(({ default: usual }) => usual !== undefined) ? [picked(WRITTEN, [...op.size.extents.map(({ name }) => name), ...whole])] : []
}

const picked = (values: Params, names: readonly string[]): Params => Object.fromEntries(names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])))

const fitting = (op: Op, sizes: readonly Params[], choices: readonly Params[]): Params[] =>
  sizes.flatMap((size) =>
    choices.flatMap((choice) => {
      const params = { ...size, ...choice }
      return op.params.safeParse(params).success ? [canonicalParams(op, params)] : []
    }),
  )
