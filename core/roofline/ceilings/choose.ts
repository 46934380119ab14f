import type { BenchmarkCase } from '../../case'
import type { Ceiling } from '../../session/types'
import type { Device } from '../../backend'
import { ceilingKind, splitKind, type ProcessorChoice } from './kinds'
import { isUsable } from './usable'
import { levelsOf, passedBytes, sameChoice, wholeChoice } from './processor'

/** Half of a cache is passed over to measure it. */
const SET_SHARE = 0.5

const isOf = (c: BenchmarkCase) => (one: Ceiling) => one.backend === c.backend && one.device === c.device

/** The better of two values of one kind: more per second, or less time. */
const better = (a: Ceiling, b: Ceiling) => (a.unit === 's' ? a.value <= b.value : a.value >= b.value)

/** Peaks of units for products, which one instruction set has and another has not. */
const PRODUCTS = /^flops:(?!f32$)/

/**
 * Finds the ceiling of a kind (without a choice) that holds for a case. On a processor: that of its level and thread count; for a library the
 * best of the levels on as many threads; where neither was measured, that of the whole device, but for products, of which another level's is none.
 */
export function ceilingFinder(ceilings: readonly Ceiling[], c: BenchmarkCase): (kind: string) => Ceiling | undefined {
  const own = ceilings.filter(isOf(c))
  const isLevel = own.some(({ kind, result }) => splitKind(kind).choice?.impl === c.impl || (result.case.threads !== undefined && result.case.impl === c.impl))
  return (kind) => {
    const same = own.filter((one) => splitKind(one.kind).base === kind)
    const whole = same.find((one) => one.kind === kind && !(isLevel && PRODUCTS.test(kind) && one.result.case.impl !== c.impl))
    if (c.threads === undefined) return whole
    const alike = same.filter(({ result }) => result.case.threads === c.threads && (!isLevel || result.case.impl === c.impl))
    return alike.reduce<Ceiling | undefined>((best, one) => (best && better(best, one) ? best : one), undefined) ?? whole
  }
}

const isOfChoice = ({ impl, threads }: BenchmarkCase, choice: ProcessorChoice) => impl === choice.impl && threads === choice.threads

/** The levels and thread counts that these cases use on a processor and whose ceilings are not among those known, or are too uncertain, each once; libraries use the preferred level. */
export function unmeasuredChoices(device: Device, cases: readonly BenchmarkCase[], ceilings: readonly Ceiling[]): ProcessorChoice[] {
  const whole = wholeChoice(device)
  if (!whole) return []
  const levels = levelsOf(device)
  const own = ceilings.filter((one) => one.backend === device.backend && one.device === device.id && one.deviceName === device.name)
  const known = own.filter((one) => ceilingKind(one.kind).is === 'flops').map(({ result }) => result.case)
  const uncertain = own.filter((one) => !isUsable(one)).map(({ result }) => result.case)
  const used = cases.flatMap(({ backend, device: id, impl, threads }) => (backend === device.backend && id === device.id && threads !== undefined ? [{ impl: levels.includes(impl) ? impl : whole.impl, threads }] : []))
  return used.filter((choice, i) => used.findIndex((other) => sameChoice(other, choice)) === i && (!known.some((c) => isOfChoice(c, choice)) || uncertain.some((c) => isOfChoice(c, choice))))
}

/**
 * The smallest measured cache that holds so many bytes, for the level and thread count of a case on a processor. Undefined where none does,
 * and on devices whose caches were read from the curve of copies.
 */
export function cacheOf(ceilings: readonly Ceiling[], c: BenchmarkCase, bytes: number): string | undefined {
  const find = ceilingFinder(ceilings, c)
  const names = new Set(ceilings.filter(isOf(c)).flatMap(({ kind }) => {
    const read = ceilingKind(kind)
    return read.is === 'cache' ? [read.name] : []
  }))
  const caches = [...names].flatMap((name) => {
    const found = find(`cache:${name}`)
    const set = found && passedBytes(found.result.case.op, found.result.case.params)
    return set === undefined || (c.threads !== undefined && found!.result.case.threads !== c.threads) ? [] : [{ name, holds: set / SET_SHARE }]
  })
  return caches.filter(({ holds }) => bytes <= holds).sort((a, b) => a.holds - b.holds)[0]?.name
}
