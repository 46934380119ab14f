import { OPS } from '@core/ops/registry'
import { everyChoice } from '@core/sweep/defaults'
import type { Op } from '@core/ops/types'
import type { SweepSpec } from '@core/session/sweep-spec'

export type Picked = SweepSpec['ops']
export type Tick = 'all' | 'some' | 'none'

/** One word of a choice, or one flag on or off: what the tree shows below an op. */
export interface Leaf {
  axis: string
  word: string
}

/** The choices that must be made (axis), with their words. */
const choicesOf = (op: Op): [name: string, words: readonly string[]][] =>
  Object.entries(op.attributes).flatMap(([name, spec]) => (spec.kind === 'choice' && spec.default === undefined ? [[name, spec.words]] : []))

export const leavesOf = (op: Op): Leaf[] => choicesOf(op).flatMap(([axis, words]) => words.map((word) => ({ axis, word })))

const wordsOf = (op: Op, axis: string, entry: Picked[number] | undefined): readonly string[] => {
  if (!entry) return []
  const picked = entry.attributes?.[axis]?.map(String)
  // As in planSweep: a choice that was not made takes its first word.
  return picked ?? choicesOf(op).find(([name]) => name === axis)?.[1].slice(0, 1) ?? []
}

/** Whether this word of this op is picked. */
export const hasLeaf = (picked: Picked, op: Op, { axis, word }: Leaf): boolean => wordsOf(op, axis, picked.find((entry) => entry.op === op.id)).includes(word)

export function tickOf(picked: Picked, op: Op): Tick {
  if (!picked.some((entry) => entry.op === op.id)) return 'none'
  return leavesOf(op).every((leaf) => hasLeaf(picked, op, leaf)) ? 'all' : 'some'
}

/** The tick of a group of ops. */
export function groupTick(picked: Picked, ops: readonly Op[]): Tick {
  const ticks = ops.map((op) => tickOf(picked, op))
  if (ticks.every((tick) => tick === 'all')) return 'all'
  return ticks.every((tick) => tick === 'none') ? 'none' : 'some'
}

/** Picks these ops with every choice, or takes the ops out; the order is always that of the registry. */
export function setOps(picked: Picked, ops: readonly Op[], on: boolean): Picked {
  const touched = new Set(ops.map((op) => op.id))
  return OPS.flatMap((op) => {
    if (touched.has(op.id)) return on ? [everyChoice(op)] : []
    return picked.filter((entry) => entry.op === op.id)
  })
}

/** Picks or drops one word; an op without any word left is dropped whole. */
export function setLeaf(picked: Picked, op: Op, { axis, word }: Leaf, on: boolean): Picked {
  const entry = picked.find((other) => other.op === op.id)
  const choices: [string, string[]][] = choicesOf(op).map(([name, words]) => {
    const had = entry ? wordsOf(op, name, entry) : name === axis ? [] : words
    return [name, words.filter((w) => (name === axis && w === word ? on : had.includes(w)))]
  })
  const others = picked.filter((other) => other.op !== op.id)
  const next = choices.some(([, words]) => words.length === 0) ? others : [...others, { op: op.id, attributes: { ...entry?.attributes, ...Object.fromEntries(choices) } }]
  return OPS.flatMap((o) => next.filter((other) => other.op === o.id))
}
