import type { Dtype, Params } from '../case'
import { attributeSchema, expectedOf, type AttributeValue } from '../ops/attributes'
import { canonicalParams } from '../ops/define'
import { findOp, OPS } from '../ops/registry'
import { isHiddenFamily, type Op } from '../ops/types'
import type { SweepSpec } from '../session/sweep-spec'
import { parseSizes, sizeParams, type Size } from './sizes'

/** The picked ops with the canonical parameters of all their sizes and attributes. What is wrong is added to `problems`. */
export function pickedOps(spec: Pick<SweepSpec, 'ops' | 'sizes'>, problems: string[]): { op: Op; params: Params[]; dtypes?: readonly Dtype[] }[] {
  if (spec.ops.length === 0) problems.push('no operation is picked')
  const read = new Map<string, readonly Size[]>()
  const sizes = ({ size: form }: Op, own: string | undefined) => {
    const text = own ?? spec.sizes[form.id] ?? ''
    const key = `${form.id}|${text}`
    if (!read.has(key)) {
      const result = parseSizes(form, text)
      if (!result.ok) problems.push(`${form.id} sizes ${result.message}`)
      else if (result.sizes.length === 0) problems.push(`no ${form.id} size is given`)
      read.set(key, result.ok ? result.sizes : [])
    }
    return read.get(key)!
  }
  return spec.ops.flatMap(({ op: id, attributes, sizes: own, dtypes }) => {
    const op = findOp(id)
    if (!op || isHiddenFamily(op.family)) {
      problems.push(`unknown operation "${id}"; expected one of ${OPS.map((o) => o.id).join(', ')}`)
      return []
    }
    const choices = pickedAttributes(op, attributes ?? {}, problems)
    const params = choices.flatMap((choice) => sizes(op, own).map((size) => ({ ...sizeParams(op.size, size), ...choice })))
    return [{ op, params: params.flatMap((p) => fitting(op, p, problems)), ...(dtypes ? { dtypes } : {}) }]
  })
}

/** The canonical parameters, or none where they do not fit together; each reason is told once. */
function fitting(op: Op, params: Params, problems: string[]): Params[] {
  const parsed = op.params.safeParse(params)
  if (parsed.success) return [canonicalParams(op, params)]
  const problem = `${op.id}: ${parsed.error.issues[0]!.message}`
  if (!problems.includes(problem)) problems.push(problem)
  return []
}

/** Every combination of the picked values; an attribute that was not picked has its default, or its first word. */
function pickedAttributes(op: Op, picked: Readonly<Record<string, readonly AttributeValue[]>>, problems: string[]): Params[] {
  for (const name of Object.keys(picked)) {
    if (!Object.hasOwn(op.attributes, name)) problems.push(`${op.id} has no attribute "${name}"; expected ${Object.keys(op.attributes).join(', ') || 'none'}`)
  }
  return Object.entries(op.attributes).reduce<Params[]>(
    (all, [name, spec]) => {
      if (!Object.hasOwn(picked, name)) return spec.kind === 'choice' && spec.default === undefined ? all.map((choice) => ({ ...choice, [name]: spec.words[0] })) : all
      const schema = attributeSchema(spec)
      const values = [...new Set(picked[name]!)].filter((value) => {
        const fits = schema.safeParse(value).success
        if (!fits) problems.push(`${op.id} has no ${name} "${String(value)}"; expected ${expectedOf(spec)}`)
        return fits
      })
      if (picked[name]!.length === 0) problems.push(`no ${name} is picked for ${op.id}`)
      return all.flatMap((choice) => values.map((value) => ({ ...choice, [name]: value })))
    },
    [{}],
  )
}
