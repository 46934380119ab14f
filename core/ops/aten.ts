import { z } from 'zod'
import type { Params } from '../case'

const extent = z.number().int().nonnegative()

/** A tensor as PyTorch's dispatcher saw it (main/backends/python/worker/capture.py). Strides in elements; null of layouts without them. */
const tensorSchema = z.object({ shape: z.array(extent).max(16), strides: z.array(z.number().int()).max(16).nullable(), dtype: z.string().max(40), device: z.string().max(40) })
export type AtenTensor = z.infer<typeof tensorSchema>

/** An argument of a call: a tensor, a number, a word, a list of these, or the name of a type that has no other form. */
export type AtenArgument = AtenTensor | number | string | boolean | null | { type: string } | AtenArgument[]
const argumentSchema: z.ZodType<AtenArgument> = z.lazy(() => z.union([tensorSchema, z.number(), z.string().max(400), z.boolean(), z.null(), z.array(argumentSchema).max(64), z.object({ type: z.string().max(200) })]))

/** A distinct call of an aten operation (`aten.addmm.default`) with its arguments; trailing defaults are left out. */
export const atenCallSchema = z.object({ op: z.string().min(1).max(200), args: z.array(argumentSchema).max(64), kwargs: z.record(z.string().max(100), argumentSchema) })
export type AtenCall = z.infer<typeof atenCallSchema>

/** Calls of aten that an op stands for: their names without overload, and the parameters of such a call; undefined where the op is not that call. */
export interface AtenForm {
  names: readonly string[]
  params(call: AtenCall): Params | undefined
}

/** `addmm` of `aten.addmm.default`; of the call in place (`add_`) that of the other. */
export const atenName = ({ op }: Pick<AtenCall, 'op'>): string => (op.split('.')[1] ?? op).replace(/(?<=[a-z0-9])_$/, '')

export const isTensor = (value: AtenArgument | undefined): value is AtenTensor => typeof value === 'object' && value !== null && 'shape' in value

/** Shape of the tensor at a place among the arguments; undefined where there is none, or it is empty. */
export function shapeAt({ args }: AtenCall, at: number): readonly number[] | undefined {
  const value = args[at]
  return isTensor(value) && !value.shape.includes(0) ? value.shape : undefined
}

export const numberAt = ({ args }: AtenCall, at: number, usual: number): number => (typeof args[at] === 'number' ? args[at] : usual)
export const flagAt = ({ args }: AtenCall, at: number): boolean => args[at] === true

/** A list of numbers at a place among the arguments; undefined where there is none. */
export function numbersAt({ args }: AtenCall, at: number): readonly number[] | undefined {
  const value = args[at]
  return Array.isArray(value) && value.every((item) => typeof item === 'number') ? value : undefined
}

/** The number that all of a list are, as a stride of [2, 2] is 2; undefined where they differ. */
export const sameOf = (values: readonly number[]): number | undefined => (values.length > 0 && values.every((value) => value === values[0]) ? values[0] : undefined)

const elementsOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1)

/** Rows of the last axis: [8, 128, 768] is 1024 rows of 768. */
export const rowsOf = (shape: readonly number[]): { rows: number; cols: number } => ({ rows: elementsOf(shape.slice(0, -1)), cols: shape.at(-1) ?? 1 })

/** Whether an axis, counted from either end, is the last one of a shape. */
export const isLast = (axis: number, shape: readonly number[]): boolean => axis === -1 || axis === shape.length - 1

/** `norm(x, [dim], ...)` over the last axes: the parameters under these names; undefined where the normalized axes are not the last. */
export function tokensOf(call: AtenCall, x: number): { tokens: number; dim: number } | undefined {
  const shape = shapeAt(call, x)
  const normalized = numbersAt(call, x + 1)
  if (!shape || !normalized || shape.slice(-normalized.length).join() !== normalized.join()) return undefined
  const dim = elementsOf(normalized)
  return { tokens: elementsOf(shape) / dim, dim }
}

/** An op over rows: the call `name(x, axis)` along the last axis of argument `x`. */
export const overRows = (names: readonly string[], x = 0, axis = x + 1): AtenForm => ({
  names,
  params: (call) => {
    const shape = shapeAt(call, x)
    return shape && isLast(numberAt(call, axis, -1), shape) ? rowsOf(shape) : undefined
  },
})

/** An image [batch, channels, height, width] at a place among the arguments; signals and vectors have extents of 1. */
export function imageAt(call: AtenCall, at: number): { batch: number; channels: number; height: number; width: number } | undefined {
  const shape = shapeAt(call, at)
  if (!shape || shape.length < 2 || shape.length > 4) return undefined
  const [batch, channels, height = 1, width = 1] = shape as [number, number, number?, number?]
  return { batch, channels, height, width }
}
