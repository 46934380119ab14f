import type { Device } from '../backend'
import { caseId, DTYPES, MODES, type BenchmarkCase } from '../case'
import { OPS } from '../ops/registry'
import { mix32 } from '../values/random'
import { planSweep } from '../sweep/plan'
import type { SweepSpec } from '../session/sweep-spec'

/** One of so many parts of a sweep, counted from 1. */
export interface Shard {
  index: number
  count: number
}

/** Most parts of one sweep. */
export const MAX_SHARDS = 10_000

/** Reads `3/20`. Throws RangeError. */
export function readShard(text: string): Shard {
  const [, index, count] = /^(\d{1,5})\/(\d{1,5})$/.exec(text.trim()) ?? []
  const shard = { index: Number(index), count: Number(count) }
  if (!(shard.index >= 1 && shard.index <= shard.count && shard.count <= MAX_SHARDS)) throw new RangeError(`--shard ${text} is not understood; expected I/N with I from 1 to N, N at most ${MAX_SHARDS}`)
  return shard
}

/** Has every kernel, so that what a sweep comes to on it does not depend on the machine. */
const everything: Device = {
  backend: '*', id: '*', name: 'everything', available: { ok: true }, modes: [...MODES], threads: [], memoryBytes: Infinity, software: false, facts: [], warnings: [],
  impls: [{ id: '*', title: '*', available: { ok: true }, preferred: true, kernels: Object.fromEntries(OPS.map(({ id }) => [id, [...DTYPES]])) }],
}

/** What a case computes, without where and how: equal for all devices, implementations, thread counts and modes. */
const pointOf = (c: BenchmarkCase) => caseId({ op: c.op, params: c.params, dtype: c.dtype, mode: 'hot', backend: '*', impl: '*', device: '*' })

/** A number that says nothing about the text, so that neighbours in a sweep (large sizes, one dtype) spread over the shards. */
const scatter = (text: string) => mix32([...text].reduce((hash, letter) => mix32(hash ^ letter.charCodeAt(0)), 0x0b5c09e))

/**
 * Whether a case of the sweep belongs to a shard. Each case belongs to exactly one, whatever devices the machine has: all
 * implementations and modes of one operation, size and dtype are in the same one, so that they are compared on one machine.
 */
export function inShard(spec: SweepSpec, { index, count }: Shard): (c: BenchmarkCase) => boolean {
  const { cases } = planSweep({ ...spec, modes: ['hot'], targets: [{ backend: '*', device: '*', impls: ['*'] }] }, [everything])
  const points = cases.map(pointOf).map((point) => ({ point, order: scatter(point) })).sort((a, b) => a.order - b.order || (a.point < b.point ? -1 : 1))
  const places = new Map(points.map(({ point }, place) => [point, place]))
  return (c) => (places.get(pointOf(c)) ?? 0) % count === index - 1
}
