import { FAMILIES, isHiddenFamily, type Op } from './types'

const single = import.meta.glob<{ default: Op }>('./*/op.ts', { eager: true })
const tables = import.meta.glob<{ default: readonly Op[] }>('./*/table.ts', { eager: true })

/** Every op under core/ops (a folder's op.ts, or the entries of its table.ts), by family then id. */
export const ALL_OPS: readonly Op[] = [...Object.values(single).map((module) => module.default), ...Object.values(tables).flatMap((module) => module.default)]
  .sort((a, b) => FAMILIES.indexOf(a.family) - FAMILIES.indexOf(b.family) || a.id.localeCompare(b.id))

/** The ops users pick from: all but those of hidden families. */
export const OPS: readonly Op[] = ALL_OPS.filter((op) => !isHiddenFamily(op.family))

/** The ops that stand for their families where not all can be measured: the default sweep, the tour. */
export const REPRESENTATIVES: readonly Op[] = OPS.filter((op, at) => op.representative || (OPS[at - 1]?.family !== op.family && !OPS.some((other) => other.family === op.family && other.representative)))

const byId = new Map(ALL_OPS.map((op) => [op.id, op]))

/** The op with this id, or undefined. */
export const findOp = (id: string): Op | undefined => byId.get(id)

/** The op with this id. Throws with the valid ids when there is none. */
export function getOp(id: string): Op {
  const op = byId.get(id)
  if (!op) throw new Error(`unknown operation "${id}"; expected one of ${OPS.map((o) => o.id).join(', ')}`)
  return op
}
