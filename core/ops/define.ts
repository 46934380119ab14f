import { z } from 'zod'
import { storageOf, STORAGE_BYTES, type Dtype, type Params } from '../case'
import { formatSize } from '../units'
import { attributeSchema, received } from './attributes'
import type { ExtentSpec, SizeForm } from './forms/basic'
import type { Op, OpDefinition, Tensor } from './types'

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

/** `16Mi` for a length; `4096x1024` for what is written by place; `n=32 c=64 hw=56` for what is written by name. */
function labelOf({ extents, positional, short }: SizeForm, p: Params): string {
  const value = (name: string) => p[name] as number
  const known: Record<string, number> = {}
  const written = extents.filter(({ name, default: usual }) => {
    const standard = typeof usual === 'function' ? usual(known) : usual
    known[name] = value(name)
    return value(name) !== standard
  })
  const places = extents.slice(0, positional)
  if (positional === 1 && extents.length === 1) return formatSize(value(extents[0]!.name))
  const named = new Map(written.filter((extent) => !places.includes(extent)).map(({ name }) => [name, value(name)]))
  const words = Object.entries(short).flatMap(([word, names]) => {
    const values = names.map((name) => named.get(name))
    if (values.some((one) => one === undefined || one !== values[0])) return []
    for (const name of names) named.delete(name)
    return [`${word}=${values[0]}`]
  })
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
