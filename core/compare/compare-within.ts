import type { Device } from '../backend'
import { environmentOn, machineOf } from '../fleet/machines'
import { placeOf } from '../fleet/place'
import { cardSpread } from '../fleet/spread'
import { environmentDifferences } from '../session/environment'
import type { Environment } from '../session/types'
import { caseId, type BenchmarkCase } from '../case'
import { subsetOf, noiseFloorsOf, type ComparedSession, type CompareOptions } from './compare-sessions'
import type { PairRatios } from './ratio/interleave'
import { compareJoined, drain, type Steps } from './join'
import { byCase, isMeasured, type ResultOf, type Entry } from './measured'
import { facetsOf, THRESHOLD, type CompareAxis, type Comparison } from './types'

/** A value of the axis was asked for that the session does not have. */
export class UnknownValueError extends Error {
  override name = 'UnknownValueError'
}

/** The side that others are compared with, by its value of the axis. */
export interface WithinRequest {
  axis: CompareAxis
  baseline?: string | undefined
}

export interface WithinOptions extends CompareOptions {
  /** Interleaved measurements that add to the session; they replace the ratio of their pair. */
  pairs?: PairRatios | undefined
}

/** compareWithinSteps at once. */
export const compareWithin = (session: ComparedSession, request: WithinRequest, resultOf: ResultOf, options: WithinOptions = {}): Comparison => drain(compareWithinSteps(session, request, resultOf, options))

/**
 * Compares the cases of one session that differ in `axis` only (axis.ts), each value of the axis with the baseline value:
 * the one asked for, else the first met. Throws UnknownValueError with the values there are.
 */
export function* compareWithinSteps(session: ComparedSession, { axis, baseline }: WithinRequest, resultOf: ResultOf, { pairs, filter, ...thresholds }: WithinOptions = {}): Steps<Comparison> {
  const whole = byCase(session.rows)
  const subset = subsetOf(whole, filter)
  const join = joinAlong(axis, subset.values(), session.environment.devices)
  if (baseline !== undefined && !join.values.includes(baseline)) {
    throw new UnknownValueError(`“${session.name}” has no ${axis} “${baseline}”; expected ${join.values.length > 0 ? `one of ${join.values.join(', ')}` : 'none: it has no case with one'}.`)
  }
  const values = baseline === undefined ? join.values : [baseline, ...join.values.filter((value) => value !== baseline)]
  const joined = join.groups.map(({ id, byValue }) => ({ id, entries: values.map((value) => byValue.get(value)) }))
  const { rows, overall, unmatched } = yield* compareJoined(joined, {
    sides: values.length,
    thresholds,
    resultOf,
    comparableCycles: (_side, c, base) => c.backend === base.backend && (c.device === base.device || ((axis === 'host' || axis === 'device') && nameIn(session, c) === nameIn(session, base))),
    ...(pairs ? { pairs } : {}),
    word: 'side',
  })
  const used = new Set(joined.flatMap(({ entries }) => entries.flatMap((entry) => (entry ? [`${entry.case.backend}/${entry.case.device}`] : []))))
  const { id, name, createdAt, fileName } = session
  return {
    sessions: values.map((value) => ({ id, name, createdAt, value, ...(fileName === undefined ? {} : { fileName }) })),
    threshold: thresholds.threshold ?? THRESHOLD,
    ...(join.threadsDiffer ? { threadsDiffer: true } : {}),
    opThresholds: thresholds.byOp ?? {},
    facets: facetsOf([...whole.values()].map((entry) => entry.case)),
    rows,
    unmatched: [
      ...unmatched.map(({ side, ...rest }) => ({ sessionId: id, ...rest, ...(side === 0 ? { baseline: true } : {}) })),
      ...join.outside.map((entry) => ({ sessionId: id, case: entry.case, reason: axis === 'device' ? 'The session has no other device of its backend.' : `It has no ${axis}.` })),
    ],
    overall,
    noiseFloors: noiseFloorsOf([session.environment], used),
    ...(axis === 'host' || axis === 'device' ? { cards: cardSpread([...subset.values()].flatMap((entry) => entry.rows), session.environment.devices) } : {}),
    environmentDifferences: differencesAlong(axis, values, session, used),
  }
}

/** What else differs between the sides: between the machines, or the devices and their machines. */
function differencesAlong(axis: CompareAxis, values: readonly string[], { environment }: ComparedSession, used: ReadonlySet<string>): string[] {
  if (axis === 'host') return environmentDifferences(values.map((value) => ({ name: value, environment: nameless(environmentOn(environment, value)) })), new Set([...used].map(localUse)))
  if (axis !== 'device') return []
  // Every side is taken as the one device of a machine, so that like is held against like.
  const sides = values.map((value) => {
    const here = nameless(environmentOn(environment, machineOf({ device: value })))
    return { name: value, environment: { ...here, devices: here.devices.filter(({ id }) => id === placeOf(value).device).map((device) => ({ ...device, id: 'device' })) } }
  })
  return environmentDifferences(sides, new Set(sides.flatMap(({ environment: { devices } }) => devices.map(({ backend, id }) => `${backend}/${id}`))))
}

/** Which card it is, not what it is like: never the same of two. */
const NAMES: ReadonlySet<string> = new Set(['UUID', 'PCI bus id', 'Serial number'])
const nameless = (environment: Environment): Environment => ({ ...environment, devices: environment.devices.map((device) => ({ ...device, facts: device.facts.filter(({ name }) => !NAMES.has(name)) })) })

/** Name of the device of a case, as far as the session knows it. */
const nameIn = ({ environment }: ComparedSession, c: BenchmarkCase) => environment.devices.find((device) => device.backend === c.backend && device.id === c.device)?.name

/** `cuda/node7/cuda:0` as that machine writes it: `cuda/cuda:0`. */
const localUse = (use: string): string => {
  const slash = use.indexOf('/')
  return `${use.slice(0, slash)}/${placeOf(use.slice(slash + 1)).device}`
}

/** What is joined within one session: groups of cases that are equal but for the axis, by value of the axis. */
export interface AxisJoin {
  /** Values in the order first met. */
  values: string[]
  groups: { id: string; byValue: Map<string, Entry> }[]
  /** Cases that have no value of the axis, such as threads of a GPU case. */
  outside: Entry[]
  /** Some work was measured at different numbers of threads alone by different values. */
  threadsDiffer: boolean
}

/**
 * What counts as equal for each axis, and how its values are called:
 * - `impl`: device and implementation vary (`cpu avx2`, `cuda kernel`, `cuda:1 kernel` where a session has several).
 * - `backend`: the device varies; of each, its preferred implementation stands for it, else the first measured.
 * - `dtype`, `mode`: only that varies.
 * - `device`: the device of one backend varies (`cuda:0`, `cuda:1`, `node7/cuda:0`), the implementation does not.
 * - `host`: the machine varies; a device is then the same as that of this id on the other machines.
 * - `threads`: the CPU's thread count varies (`8 threads`); cases without threads stay outside.
 * For `impl` and `backend` cases with the same threads are compared, and a case without threads with each of them.
 */
function joinAlong(axis: CompareAxis, entries: Iterable<Entry>, devices: readonly Device[]): AxisJoin {
  const all = [...entries]
  // The one device of a backend has no other to be compared with.
  const nameOf = deviceNames(all, axis === 'device' ? () => '' : undefined)
  const values = new Set<string>()
  const outside: Entry[] = []
  const keyed = new Map<string, { value: string; entry: Entry }[]>()
  for (const entry of all) {
    const value = valueOf(axis, entry.case, nameOf)
    if (value === undefined) {
      outside.push(entry)
      continue
    }
    values.add(value)
    const key = caseId(withoutAxis(axis, entry.case))
    const group = keyed.get(key) ?? []
    group.push({ value, entry })
    keyed.set(key, group)
  }
  let threadsDiffer = false
  const groups = [...keyed].flatMap(([id, members]) => {
    const own = byThreads(axis, members).map(({ threads, members: same }) => ({ id: threads === undefined ? id : `${id}|t${threads}`, byValue: oneEach(axis, same, devices) }))
    threadsDiffer ||= own.some(({ byValue }) => byValue.size === 1) && new Set(members.map(({ value }) => value)).size > 1
    return own
  })
  return { values: [...values], groups, outside, threadsDiffer }
}

/** `cpu`, or `cuda:1` where the session has several devices of the backend. */
function deviceNames(entries: readonly Entry[], ofOne = ({ backend }: BenchmarkCase): string => backend): (c: BenchmarkCase) => string {
  const devices = new Map<string, Set<string>>()
  for (const { case: c } of entries) devices.set(c.backend, (devices.get(c.backend) ?? new Set()).add(c.device))
  return (c) => (devices.get(c.backend)!.size > 1 ? c.device : ofOne(c))
}

function valueOf(axis: CompareAxis, c: BenchmarkCase, nameOf: (c: BenchmarkCase) => string): string | undefined {
  if (axis === 'impl') return `${nameOf(c)} ${c.impl}`
  if (axis === 'backend') return nameOf(c)
  if (axis === 'host') return machineOf(c)
  if (axis === 'device') return nameOf(c) === c.device ? c.device : undefined
  if (axis === 'threads') return c.threads === undefined ? undefined : `${c.threads} ${c.threads === 1 ? 'thread' : 'threads'}`
  return c[axis]
}

/** The case with what the axis varies taken out, so that equal ones have the same identity. */
function withoutAxis(axis: CompareAxis, c: BenchmarkCase): BenchmarkCase {
  const rest = { op: c.op, params: c.params, dtype: c.dtype, mode: c.mode }
  if (axis === 'impl' || axis === 'backend') return { ...rest, backend: '*', impl: '*', device: '*' }
  if (axis === 'host') return { ...c, device: placeOf(c.device).device }
  if (axis === 'device') return { ...c, device: '*' }
  if (axis === 'threads') return { ...rest, backend: c.backend, impl: c.impl, device: c.device }
  return axis === 'dtype' ? { ...c, dtype: 'f32' } : { ...c, mode: 'hot' }
}

type Member = { value: string; entry: Entry }

/** One group per thread count that occurs, with the cases that have no threads in each; all in one where none has. */
function byThreads(axis: CompareAxis, members: readonly Member[]): { threads?: number; members: readonly Member[] }[] {
  if (axis !== 'impl' && axis !== 'backend') return [{ members }]
  const counts = [...new Set(members.flatMap(({ entry }) => (entry.case.threads === undefined ? [] : [entry.case.threads])))]
  if (counts.length === 0) return [{ members }]
  return counts.map((threads) => ({ threads, members: members.filter(({ entry }) => entry.case.threads === undefined || entry.case.threads === threads) }))
}

/** The one entry of each value: the only one, or for the axis `backend` that of the preferred implementation. */
function oneEach(axis: CompareAxis, members: readonly Member[], devices: readonly Device[]): Map<string, Entry> {
  const preferred = ({ backend, device, impl }: BenchmarkCase) => devices.find((d) => d.backend === backend && d.id === device)?.impls.find(({ id }) => id === impl)?.preferred === true
  const rank = ({ case: c, rows }: Entry) => (rows.some(isMeasured) ? 2 : 0) + (preferred(c) ? 1 : 0)
  const chosen = new Map<string, Entry>()
  for (const { value, entry } of members) {
    const known = chosen.get(value)
    if (!known || (axis === 'backend' && rank(entry) > rank(known))) chosen.set(value, entry)
  }
  return chosen
}
