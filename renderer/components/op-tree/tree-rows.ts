import { OPS } from '@core/ops/registry'
import { searchOps } from '@core/ops/search'
import type { Family, Op } from '@core/ops/types'
import { leavesOf, tickOf, type Leaf, type Picked } from './picked-ops'

/** A line of the tree of operations. `key` is unique among them. */
export type TreeRow =
  | { kind: 'family'; key: string; family: Family; ops: readonly Op[]; picked: number; total: number; open: boolean }
  | { kind: 'op'; key: string; op: Op }
  | { kind: 'leaf'; key: string; op: Op; leaf: Leaf }

export interface TreeView {
  search: string
  /** Only what is picked. */
  pickedOnly: boolean
  /** Families that are unfolded; all of them are while something is searched for. */
  open: ReadonlySet<string>
}

/** The families with operations that are shown, in the order of the registry. */
export const shownFamilies = (picked: Picked, { search, pickedOnly }: Omit<TreeView, 'open'>): { family: Family; ops: Op[] }[] =>
  searchOps(search)
    .map(({ family, ops }) => ({ family, ops: pickedOnly ? ops.filter((op) => tickOf(picked, op) !== 'none') : ops }))
    .filter(({ ops }) => ops.length > 0)

/** The lines of the tree from top to bottom: folded families alone, others with their operations and the choices of those picked. */
export function treeRows(picked: Picked, view: TreeView): TreeRow[] {
  return shownFamilies(picked, view).flatMap(({ family, ops }): TreeRow[] => {
    const whole = OPS.filter((op) => op.family === family)
    const open = view.search.trim() !== '' || view.pickedOnly || view.open.has(family)
    const head: TreeRow = { kind: 'family', key: family, family, ops, picked: whole.filter((op) => tickOf(picked, op) !== 'none').length, total: whole.length, open }
    if (!open) return [head]
    return [head, ...ops.flatMap((op): TreeRow[] => [
      { kind: 'op', key: `op-${op.id}`, op },
      ...(tickOf(picked, op) === 'none' ? [] : leavesOf(op).map((leaf) => ({ kind: 'leaf' as const, key: `op-${op.id}-${leaf.axis}-${leaf.word}`, op, leaf }))),
    ])]
  })
}

/** The line above that holds this one: the operation of a choice, the family of an operation. */
export const parentOf = (rows: readonly TreeRow[], at: number): TreeRow | undefined => {
  const row = rows[at]
  if (!row || row.kind === 'family') return undefined
  return rows.slice(0, at).findLast(({ kind }) => kind === (row.kind === 'leaf' ? 'op' : 'family'))
}
