import { z } from 'zod'
import { storageOf, STORAGE_BYTES, type Dtype, type Params, type StorageType } from '../case'
import { formatSize } from '../units'
import { attributeSchema, received } from './attributes'
import type { ExtentSpec, SizeForm } from './forms/basic'
import type { Op, OpDefinition, Tensor, Tolerance, ReadInput } from './types'

/** Extents are counted exactly in float64, and tensors of more than 2^40 elements fit no device known. */
export const MAX_EXTENT = 2 ** 40

/** Most tensors, extents and kernel integers of one op: what every backend has room for. */
export const LIMITS = { tensors: 32, dims: 32, scalars: 16 } as const

/** Checks one extent: a whole number from its least to MAX_EXTENT. */
function extentSchema({ min = 1, default: usual }: ExtentSpec): z.ZodType<number | undefined> {
  const error = (issue: { input?: unknown }) => `expected a whole number from ${min} to ${MAX_EXTENT}, received ${received(issue.input)}`
  const known = z.number({ error }).int({ error }).min(min, { error }).max(MAX_EXTENT, { error })
  return usual === undefined ? known : typeof usual === 'number' ? known.default(usual) : known.optional()
}

/** Extents with the defaults that depend on others filled in. */
function completed(form: SizeForm, params: Params): Params {
  const known: Record<string, number> = {}
  for (const { name, default: usual } of form.extents) known[name] = (params[name] as number | undefined) ?? (typeof usual === 'function' ? usual(known) : (usual ?? 0))
  return { ...params, ...known }
}

function paramsSchema<P extends Params>({ size, attributes = {}, refuse }: OpDefinition<P>): z.ZodType<Params> {
  const shape = Object.fromEntries([...size.extents.map((extent) => [extent.name, extentSchema(extent)] as const), ...Object.entries(attributes).map(([name, spec]) => [name, attributeSchema(spec)] as const)])
  const whole = z.object(shape).transform((params) => completed(size, params as Params))
  if (!refuse) return whole
  return whole.superRefine((params, context) => {
    const reason = refuse(params as P)
    if (reason !== undefined) context.addIssue({ code: 'custom', message: reason })
  })
}

/** `16Mi` for a length; `4096x1024` for what is written by place; `n=32 c=64 hw=56` for what is written by name. Extents that are left out have their usual value. */
export function labelOf({ extents, positional, short }: SizeForm, p: Params): string {
  const value = (name: string) => p[name] as number
  const known: Record<string, number> = {}
  const written = extents.filter(({ name, default: usual }) => {
    const standard = typeof usual === 'function' ? usual(known) : usual
    known[name] = p[name] === undefined ? standard! : value(name)
    return known[name] !== standard
  })
  const places = extents.slice(0, positional)
  if (positional === 1 && extents.length === 1) return formatSize(value(extents[0]!.name))
  const named = new Map(written.filter((extent) => !places.includes(extent)).map(({ name }) => [name, value(name)]))
  // One word for equal extents, `hw=56`, also where the second is left out because it follows the first.
  const joint = Object.values(short).filter((names) => names.length > 1 && names.some((name) => named.has(name)) && names.every((name) => value(name) === value(names[0]!)))
  const words = Object.entries(short).flatMap(([word, names]) => {
    if (!joint.includes(names) && (names.length > 1 || !named.has(names[0]!) || joint.some((all) => all.includes(names[0]!)))) return []
    return [`${word}=${value(names[0]!)}`]
  })
  for (const name of [...joint, ...Object.values(short).filter(({ length }) => length === 1)].flat()) named.delete(name)
  const rest = [...named].map(([name, one]) => `${name}=${one}`)
  return [places.map(({ name }) => value(name)).join('x'), ...words, ...rest].filter(Boolean).join(' ')
}

/** An op from what its author states, everything else worked out. */
export function defineOp<P extends Params>(definition: OpDefinition<P>): Op {
  const own = definition as unknown as OpDefinition
  const params = paramsSchema(definition)
  const op: Op = {
    ...own,
    attributes: own.attributes ?? {},
    params,
    scalars: (p) => own.scalars?.(p) ?? [],
    unit: (dtype) => own.unit?.(dtype) ?? 'vector',
    shapeLabel: (p) => own.shapeLabel?.(p) ?? labelOf(own.size, p),
    granule: (p, output = 0) => own.granule?.(p, output) ?? 1,
    referenceCost: (p, output = 0) => own.referenceCost(p, output),
    referenceCostAlone: (p, output = 0) => (own.referenceCostAlone ?? own.referenceCost)(p, output),
    reference: (p, read, start, count, output = 0, got) => own.reference(p, read, start, count, output, got),
    tolerance: (p, dtype, output = 0) => own.tolerance(p, dtype, output),
    outputScale: (p, output = 0) => own.outputScale?.(p, output) ?? 0,
    // A reference that looks at `got` names it as its sixth parameter.
    severalAnswers: own.reference.length > 5,
    bytes: (p, dtype) => tensorsOf(op, p, dtype).reduce((sum, tensor) => sum + leastBytes(tensor), 0),
  }
  return op
}

const leastBytes = (tensor: Tensor): number => tensor.leastBytes ?? tensor.elements * STORAGE_BYTES[tensor.storage] * (tensor.role === 'inout' ? 2 : 1)

/** Minimum memory traffic of a call apart, in bytes: what `in` tensors are read, `out` ones written, and `inout` ones both. */
export function trafficOf(op: Op, p: Params, dtype: Dtype): { readBytes: number; writtenBytes: number } {
  const traffic = { readBytes: 0, writtenBytes: 0 }
  for (const tensor of tensorsOf(op, p, dtype)) {
    const bytes = leastBytes(tensor)
    if (tensor.role !== 'out') traffic.readBytes += tensor.role === 'in' ? bytes : bytes / 2
    if (tensor.role !== 'in') traffic.writtenBytes += tensor.role === 'out' ? bytes : bytes / 2
  }
  return traffic
}

/** Elements of a shape; 1 for a scalar. */
export const elementsOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1)

/** Every tensor of an op with parsed parameters, worked out. */
export function tensorsOf(op: Op, p: Params, dtype: Dtype): Tensor[] {
  let stream = 0
  return op.tensors(p, dtype).map((spec) => ({
    ...spec,
    storage: spec.storage ?? storageOf(dtype),
    elements: elementsOf(spec.shape),
    ...(spec.role === 'out' ? {} : { stream: stream++ }),
  }))
}

/** The tensors that are filled before a call, in the order of `ReadInput`. */
export const inputsOf = (op: Op, p: Params, dtype: Dtype): Tensor[] => tensorsOf(op, p, dtype).filter(({ role }) => role !== 'out')

/** The tensors that a call writes, in the order of `reference`'s `output`. */
export const outputsOf = (op: Op, p: Params, dtype: Dtype): Tensor[] => tensorsOf(op, p, dtype).filter(({ role }) => role !== 'in')

/** Params as a case carries them: checked, without what stands at a constant default. Throws the schema's error. */
export function canonicalParams(op: Op, params: Params): Params {
  const whole = op.params.parse(params)
  const usual = new Map<string, unknown>([...op.size.extents.map((extent) => [extent.name, extent.default] as const), ...Object.entries(op.attributes).map(([name, spec]) => [name, spec.default] as const)])
  return Object.fromEntries(Object.entries(whole).filter(([name, value]) => typeof usual.get(name) === 'function' || usual.get(name) !== value))
}

/** Largest divisor of `n` up to `limit`: the run length that fits a whole number of times into a row of `n`. */
export function divisorUpTo(n: number, limit: number): number {
  for (let d = Math.min(n, limit); d > 1; d--) if (n % d === 0) return d
  return 1
}

/** Rounding of inputs and output alone: what a correct kernel with f32 accumulation stays under. */
const STORAGE: Readonly<Record<Exclude<Dtype, 'f32'>, number>> = { f16: 2e-3, bf16: 1e-2, tf32: 1e-3, i8: 1e-2, f8e4m3: 5e-2, unknown: 1e-6 }

/** Half the spacing at 1: the largest relative error of one rounding. */
export const ROUNDING: Readonly<Record<StorageType, number>> = { f32: 2 ** -24, f16: 2 ** -11, bf16: 2 ** -8, f8e4m3: 2 ** -4, i8: 0.5, i32: 0.5, u8: 0.5 }

const byDtype = (dtype: Dtype, f32: number): number => (dtype === 'f32' ? f32 : STORAGE[dtype])

/** For ops that copy bits, and for indices. */
export const exact: Tolerance = { relL2: 1e-12, element: { ulp: 0, abs: 0 } }

/** For one or two adds, multiplies or the like per element; `abs`: what rounding before a cancellation leaves. */
export const arithmetic = (dtype: Dtype, abs = 0): Tolerance => ({ relL2: byDtype(dtype, 1e-6), element: { ulp: dtype === 'f32' ? 4 : 1, abs } })

/** For exp, erf and the like per element; `abs`: what an approximation may be off where the result nears zero. */
export const transcendental = (dtype: Dtype, abs = 1e-6): Tolerance => ({ relL2: byDtype(dtype, 1e-6), element: { ulp: dtype === 'f32' ? 32 : 2, abs: dtype === 'f32' ? abs : Math.max(abs, ROUNDING[storageOf(dtype)] * 2 ** -6) } })

/**
 * For `length` terms of magnitude `term` added in f32: rounding grows with the square root of the length (Higham 2002,
 * section 4.2, random errors). An element may be off by eight times what the norm allows of its typical size.
 */
export function accumulated(dtype: Dtype, length: number, term = 1): Tolerance {
  const relL2 = byDtype(dtype, Math.max(1e-6, 1e-5 * Math.sqrt(length / 1024)))
  return { relL2, element: { ulp: 2, abs: 8 * (dtype === 'tf32' ? relL2 : Math.max(1e-6, 1e-5 * Math.sqrt(length / 1024))) * term * Math.sqrt(length) } }
}

/** For row-wise ops whose sums over `length` elements are normalised away again: the error of the sums, which grows as `accumulated`, stays. */
export function normalized(dtype: Dtype, length: number, magnitude = 1): Tolerance {
  const relL2 = byDtype(dtype, 1e-5 * Math.max(1, Math.sqrt(length / 2 ** 20)))
  return { relL2, element: { ulp: 4, abs: 8 * 1e-5 * Math.max(1, Math.sqrt(length / 2 ** 20)) * magnitude } }
}

/** For a chain of products, norms and residual sums: each of about a dozen steps rounds to the storage type once; `length`: the longest sum. */
export function blockTolerance(dtype: Dtype, length: number): Tolerance {
  const { relL2, element } = normalized(dtype, length, 4)
  return { relL2, element: { ulp: element.ulp, abs: Math.max(element.abs, 8 * ROUNDING[storageOf(dtype)] * 2) } }
}

const kept = new WeakMap<ReadInput, Map<string, unknown>>()

/**
 * What `make` gives, worked out once for each `read` and key: what many ranges of an output need from the inputs (the mean of a
 * channel, the places of an index). `read` always gives the same numbers; the key names the parameters that matter.
 */
export function oncePerRead<T>(read: ReadInput, key: string, make: () => T): T {
  let known = kept.get(read)
  if (!known) kept.set(read, (known = new Map()))
  if (!known.has(key)) known.set(key, make())
  return known.get(key) as T
}

/** Elements of an input that are made in about the time that a read takes by itself. */
export const WORTH_A_READ = 64

/** Elements that a reference reads at a time: many times what a read costs, and few enough for the processor's cache. */
const READ_TOGETHER = 16384

/** `rows` rows of `length` elements as runs [first row, rows] that are read together: short rows many at a time, long ones by themselves. */
export function* runsOfRows(rows: number, length = 1): Generator<readonly [first: number, count: number]> {
  const most = Math.max(1, Math.floor(READ_TOGETHER / length))
  for (let first = 0; first < rows; first += most) yield [first, Math.min(most, rows - first)]
}
