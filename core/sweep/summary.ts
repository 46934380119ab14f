import type { SweepSpec } from '../session/sweep-spec'
import { findOp } from '../ops/registry'
import { aboutDuration, formatInteger } from '../units'
import type { Plan } from './plan'
import { parseSizes } from './sizes'

/** Cases that are left out for one reason, with one of them as an example. */
export interface LeftOut {
  reason: string
  count: number
  example: string
}

/** A sweep in words. */
export interface SweepSummary {
  /** What is picked: `12 operations × 5 sizes × f32, bf16 × 3 implementations, cold and hot`. Empty where nothing is. */
  picks: string
  /** What that comes to: `720 cases`, `720 cases, 3 times`. */
  cases: string
  /** How they are measured, where the sweep leaves that open: `in interleaved rounds (noisy host: noise floor 3.10 %)`. */
  how?: string
  /** All of it as one line: picks, cases, expected time and what is left out. */
  text: string
  /** Number of cases left out. */
  leftOut: number
  /** Why, the most cases first. */
  reasons: readonly LeftOut[]
}

const counted = (count: number, word: string): string => `${formatInteger(count)} ${word}${count === 1 ? '' : 's'}`

/** `a`, `a and b`, `a, b and c`. */
const joined = (words: readonly string[]): string => (words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)!}`)

/** `5 sizes`, or `1 to 5 sizes` where operations differ. Operations whose sizes cannot be read do not count. */
function sizesText({ ops, sizes }: SweepSpec): string | undefined {
  const read = new Map<string, number>()
  const counts = ops.flatMap(({ op: id, sizes: own }) => {
    const form = findOp(id)?.size
    if (!form) return []
    const text = own ?? sizes[form.id] ?? ''
    const key = `${form.id}|${text}`
    if (!read.has(key)) {
      const parsed = parseSizes(form, text)
      read.set(key, parsed.ok ? parsed.sizes.length : 0)
    }
    return read.get(key)! > 0 ? [read.get(key)!] : []
  })
  if (counts.length === 0) return undefined
  const [least, most] = [Math.min(...counts), Math.max(...counts)]
  return least === most ? counted(most, 'size') : `${formatInteger(least)} to ${counted(most, 'size')}`
}

/** `3 operations`, or `3 operations (5 variants)` where attributes have several values. */
function opsText({ ops }: SweepSpec): string | undefined {
  if (ops.length === 0) return undefined
  const variants = ops.reduce((sum, { attributes = {} }) => sum + Object.values(attributes).reduce((product, values) => product * new Set(values).size, 1), 0)
  return `${counted(ops.length, 'operation')}${variants > ops.length ? ` (${counted(variants, 'variant')})` : ''}`
}

/** Thread counts where the user chose several. */
function threadsText({ targets }: SweepSpec): string | undefined {
  const several = new Set(targets.flatMap(({ threads = [] }) => (threads.length > 1 ? threads : [])))
  return several.size === 0 ? undefined : `${joined([...several].sort((a, b) => a - b).map(String))} threads`
}

/** What a sweep picks: `12 operations × 5 sizes × f32, bf16 × 3 implementations, cold and hot`; empty where nothing is picked. */
export function picksText(spec: SweepSpec): string {
  const lanes = new Set(spec.targets.flatMap(({ backend, device, impls }) => impls.map((impl) => `${backend} ${device} ${impl}`)))
  const factors = [opsText(spec), sizesText(spec), [...new Set(spec.dtypes)].join(', '), lanes.size > 0 ? counted(lanes.size, 'implementation') : undefined, threadsText(spec)]
  return [factors.filter(Boolean).join(' × '), joined([...new Set(spec.modes)])].filter(Boolean).join(', ')
}

/** The reasons of a plan, each once, the most cases first. */
function reasonsOf({ skipped }: Plan): LeftOut[] {
  const byReason = new Map<string, LeftOut>()
  for (const { reason, count, example } of skipped) {
    const known = byReason.get(reason)
    if (known) known.count += count
    else byReason.set(reason, { reason, count, example })
  }
  return [...byReason.values()].sort((a, b) => b.count - a.count)
}

/**
 * What a sweep comes to, in one line: the window shows it above Run and the command line prints it before a run. Pure.
 * @param plan what `planSweep` made of `spec`
 * @param seconds expected time of the whole sweep, with its repeats
 * @param noise why it is measured in interleaved rounds although that was not chosen (core/session/noisy-host.ts)
 */
export function summarizeSweep(spec: SweepSpec, plan: Plan, seconds: number, noise?: string): SweepSummary {
  const { repeats = 1 } = spec
  const picks = picksText(spec)
  const reasons = reasonsOf(plan)
  const leftOut = reasons.reduce((sum, { count }) => sum + count, 0)
  const cases = `${counted(plan.cases.length, 'case')}${plan.cases.length > 0 && repeats > 1 ? `, ${repeats} times` : ''}`
  const how = noise === undefined ? undefined : `in interleaved rounds (noisy host: ${noise})`
  const came = [cases, ...(how === undefined ? [] : [how]), ...(plan.cases.length > 0 ? [aboutDuration(seconds)] : []), ...(leftOut > 0 ? [`${formatInteger(leftOut)} left out`] : [])].join(', ')
  return { picks, cases, text: picks === '' ? came : `${picks}: ${came}`, leftOut, reasons, ...(how === undefined ? {} : { how }) }
}
