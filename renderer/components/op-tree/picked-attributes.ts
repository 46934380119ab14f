import type { AttributeSpec, AttributeValue } from '@core/ops/attributes'
import { findOp } from '@core/ops/registry'
import type { Picked } from './picked-ops'

/** An attribute with a default, and the picked operations that have it alike. Choices without a default stand in the tree. */
export interface SharedAttribute {
  key: string
  name: string
  spec: AttributeSpec
  ops: readonly string[]
}

/** The attributes of the picked operations, in the order in which operations name them. */
export function attributesOf(picked: Picked): SharedAttribute[] {
  const found = new Map<string, SharedAttribute & { ops: string[] }>()
  for (const { op: id } of picked)
    for (const [name, spec] of Object.entries(findOp(id)?.attributes ?? {})) {
      if (spec.default === undefined) continue
      const alike = `${name}|${JSON.stringify(spec)}`
      const known = found.get(alike)
      if (known) known.ops.push(id)
      else found.set(alike, { key: `${name}-${found.size}`, name, spec, ops: [id] })
    }
  return [...found.values()]
}

/** The values that are measured of an attribute: those of the first operation that has it, else its default. */
export const valuesOf = (picked: Picked, { name, spec, ops }: SharedAttribute): readonly AttributeValue[] =>
  picked.find(({ op }) => op === ops[0])?.attributes?.[name] ?? [spec.default!]

/** The picks with these values of an attribute, for every operation that has it; the default alone is not written. */
export function setValues(picked: Picked, { name, spec, ops }: SharedAttribute, values: readonly AttributeValue[]): Picked {
  const only = [...new Set(values)]
  return picked.map((entry) => {
    if (!ops.includes(entry.op)) return entry
    const { [name]: _, ...others } = entry.attributes ?? {}
    const attributes = only.length === 1 && only[0] === spec.default ? others : { ...others, [name]: only }
    const { attributes: _before, ...rest } = entry
    return Object.keys(attributes).length > 0 ? { ...rest, attributes } : rest
  })
}
