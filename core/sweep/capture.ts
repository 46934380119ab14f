import { z } from 'zod'
import { dtypeSchema, paramsSchema, type Dtype, type Params } from '../case'
import { atenCallSchema, atenName, isTensor, type AtenCall, type AtenForm } from '../ops/aten'
import { canonicalParams } from '../ops/define'
import { OPS } from '../ops/registry'
import type { Op } from '../ops/types'
import { sweepSpecSchema, type PickedOp, type SweepSpec } from '../session/sweep-spec'
import { sizeText } from './sizes'

/** What a script called, as main/backends/python/worker/capture.py writes it. */
export const captureSchema = z.object({
  opscopeCapture: z.literal(1),
  torch: z.string().max(100),
  python: z.string().max(100),
  command: z.array(z.string().max(4000)).max(200),
  /** Calls made; those beyond the distinct ones that are kept are in `dropped`. */
  calls: z.number().int().nonnegative(),
  dropped: z.number().int().nonnegative(),
  /** Names of the GPUs that the script could use. */
  devices: z.array(z.string().max(200)).max(64),
  /** Absent while the script runs. `problem`: the error that ended it. */
  end: z.object({ status: z.number().int(), seconds: z.number().nonnegative(), problem: z.string().max(4000).optional() }).optional(),
  operations: z.array(atenCallSchema.extend({ count: z.number().int().positive() })).max(20_000),
})
export type Capture = z.infer<typeof captureSchema>

/** What a script called, in terms of the catalogue, most calls first. */
export const capturedShapesSchema = z.object({
  /** Operations of the catalogue with the canonical parameters and the dtype that they were called with. */
  cases: z.array(z.object({ op: z.string(), params: paramsSchema, dtype: dtypeSchema, calls: z.number().int().positive() })),
  /** Calls that no operation of the catalogue stands for, by name, with the reason where the operation is known. */
  outside: z.array(z.object({ op: z.string(), calls: z.number().int().positive(), reason: z.string().optional() })),
  /** Calls that run no kernel: views, and tensors that are made without a value. */
  views: z.number().int().nonnegative(),
})
export type CapturedShapes = z.infer<typeof capturedShapesSchema>

/** Calls that compute nothing. */
const VIEWS = new Set([
  'view', 't', 'transpose', 'permute', 'expand', 'reshape', '_unsafe_view', '_reshape_alias', 'view_as', 'unsqueeze', 'squeeze', 'select', 'slice', 'split', 'split_with_sizes', 'unbind', 'as_strided', 'narrow', 'diagonal', 'unfold',
  'detach', 'alias', 'lift_fresh', 'empty', 'empty_like', 'empty_strided', 'new_empty', 'new_empty_strided', 'resize', 'set', '_local_scalar_dense', 'is_same_size', 'item', 'record_stream',
])

const DTYPES: Readonly<Record<string, Dtype>> = { float32: 'f32', float16: 'f16', bfloat16: 'bf16' }

const forms = new Map<string, { op: Op; form: AtenForm }[]>()
for (const op of OPS) for (const form of op.aten ?? []) for (const name of form.names) forms.set(name, [...(forms.get(name) ?? []), { op, form }])

/** The dtype of a call's first tensor of real numbers. */
function dtypeOf({ args }: AtenCall): Dtype | undefined {
  const tensors = args.flatMap((value) => (isTensor(value) ? [value.dtype] : []))
  const real = tensors.find((dtype) => /float/.test(dtype)) ?? tensors[0]
  return DTYPES[real ?? '']
}

/** The case that a call is, or why it is none. */
function caseOf(call: AtenCall): { op: Op; params: Params; dtype: Dtype } | string | undefined {
  const known = forms.get(atenName(call))
  if (!known) return undefined
  const dtype = dtypeOf(call)
  if (dtype === undefined) return 'its dtype is not in the catalogue'
  for (const { op, form } of known) {
    const params = form.params(call)
    if (params && op.dtypes.includes(dtype) && op.params.safeParse(params).success) return { op, params: canonicalParams(op, params), dtype }
  }
  return 'its shapes or arguments are not in the catalogue'
}

/** Maps the calls of a script to the catalogue. */
export function capturedShapes({ operations }: Pick<Capture, 'operations'>): CapturedShapes {
  const cases = new Map<string, CapturedShapes['cases'][number]>()
  const outside = new Map<string, CapturedShapes['outside'][number]>()
  let views = 0
  for (const call of operations) {
    const found = caseOf(call)
    if (typeof found === 'object') {
      const key = JSON.stringify([found.op.id, found.params, found.dtype])
      const held = cases.get(key) ?? { op: found.op.id, params: found.params, dtype: found.dtype, calls: 0 }
      held.calls += call.count
      cases.set(key, held)
    } else if (VIEWS.has(atenName(call))) views += call.count
    else {
      const held = outside.get(call.op) ?? { op: call.op, calls: 0, ...(found === undefined ? {} : { reason: found }) }
      held.calls += call.count
      outside.set(call.op, held)
    }
  }
  const most = (a: { calls: number }, b: { calls: number }) => b.calls - a.calls
  return { cases: [...cases.values()].sort(most), outside: [...outside.values()].sort(most), views }
}

/** A captured sweep as a file: what `opscope capture` writes and `opscope run --plan` measures. */
export const sweepFileSchema = z.object({
  opscopeSweep: z.literal(1),
  name: z.string().min(1).max(160),
  picks: sweepSpecSchema.pick({ ops: true, sizes: true, dtypes: true }),
  /** Where it comes from, for people: calls by case and what is outside the catalogue. */
  captured: capturedShapesSchema.extend({ torch: z.string(), command: z.array(z.string()), calls: z.number().int().nonnegative() }).optional(),
})
export type SweepFile = z.infer<typeof sweepFileSchema>

/**
 * The captured sweep in a text; undefined where the text is something else.
 * @throws Error where it is a sweep that is not valid
 */
export function readSweep(text: string): SweepFile | undefined {
  // Large sessions are JSON too: they are not read as a whole only to find that they are none.
  if (!text.slice(0, 200).includes('"opscopeSweep"')) return undefined
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    return undefined
  }
  const read = sweepFileSchema.safeParse(content)
  if (!read.success) throw new Error(z.prettifyError(read.error))
  return read.data
}

/** The file of a capture. */
export function sweepFileOf(name: string, { torch, command, calls }: Capture, shapes: CapturedShapes): SweepFile {
  return { opscopeSweep: 1, name, picks: capturedPicks(shapes), captured: { torch, command, calls, ...shapes } }
}

/** A size text may have 4,000 characters. */
const MAX_TEXT = 3800

/** The captured cases as picks of a sweep: where they are measured, in which modes and how is for the user to say. */
export function capturedPicks({ cases }: Pick<CapturedShapes, 'cases'>): Pick<SweepSpec, 'ops' | 'sizes' | 'dtypes'> {
  const picks = new Map<string, PickedOp[]>()
  for (const { op: id, params, dtype } of cases) {
    const op = OPS.find((one) => one.id === id)!
    const attributes = Object.fromEntries(Object.keys(op.attributes).flatMap((name) => (params[name] === undefined ? [] : [[name, [params[name]]]])))
    const key = JSON.stringify([id, attributes, dtype])
    const text = sizeText(op.size, params)
    const own = picks.get(key) ?? []
    const last = own.at(-1)
    if (last?.sizes !== undefined && last.sizes.length + text.length < MAX_TEXT) last.sizes += `, ${text}`
    else own.push({ op: id, ...(Object.keys(attributes).length > 0 ? { attributes } : {}), sizes: text, dtypes: [dtype] })
    picks.set(key, own)
  }
  return { ops: [...picks.values()].flat(), sizes: {}, dtypes: [...new Set(cases.map(({ dtype }) => dtype))] }
}
