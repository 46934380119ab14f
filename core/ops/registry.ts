import { FAMILIES, isHiddenFamily, type Op } from './types'

const modules = import.meta.glob<{ default: Op }>('./*/op.ts', { eager: true })

/** Every op under core/ops, by family then id. */
export const ALL_OPS: readonly Op[] = Object.values(modules)
  .map((module) => module.default)
  .sort((a, b) => FAMILIES.indexOf(a.family) - FAMILIES.indexOf(b.family) || a.id.localeCompare(b.id))

/** The ops users pick from: all but those of hidden families. */
export const OPS: readonly Op[] = ALL_OPS.filter((op) => !isHiddenFamily(op.family))

const byId = new Map(ALL_OPS.map((op) => [op.id, op]))

/** The op with this id, or undefined. */
export const findOp = (id: string): Op | undefined => byId.get(id)

/** The op with this id. Throws with the valid ids when there is none. */
export function getOp(id: string): Op {
  const op = byId.get(id)
  if (!op) throw new Error(`unknown operation "${id}"; expected one of ${OPS.map((o) => o.id).join(', ')}`)
  return op
}
