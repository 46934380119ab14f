import type { MeasureSettings, StoppingRule } from '@core/measure/settings'

export type RuleId = StoppingRule['id']

/** A number a user may type: in its own unit and between two bounds, both allowed. */
export interface NumberSpec {
  title: string
  unit?: string
  from: number
  to: number
  whole?: boolean
}

const plain = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 6 })

/** What a user typed as a number, or what is wrong with it and what is expected, in one sentence. */
export function readNumber(text: string, { unit, from, to, whole = false }: NumberSpec): { ok: true; value: number } | { ok: false; problem: string } {
  const expected = `${whole ? 'Expected a whole number' : 'Expected a number'} from ${plain(from)} to ${plain(to)}${unit ? ` ${unit}` : ''}`
  const typed = text.trim()
  const value = Number(typed)
  if (typed === '') return { ok: false, problem: `${expected}.` }
  if (!/^[+\d.]/.test(typed) || !Number.isFinite(value)) {
    const pointed = typed.replace(',', '.')
    const comma = !whole && pointed !== typed && Number.isFinite(Number(pointed))
    return { ok: false, problem: comma ? `${expected}, with a point: ${pointed}.` : `${expected}, not “${typed.slice(0, 20)}”.` }
  }
  if (value < from || value > to || (whole && !Number.isInteger(value))) return { ok: false, problem: `${expected}, not ${typed.slice(0, 20)}.` }
  return { ok: true, value }
}

/** A number of a preset. `get` and `set` speak the unit of the field. */
export interface PresetField extends NumberSpec {
  id: string
  /** The rule it belongs to; absent: to every rule. */
  rule?: RuleId
  get(settings: MeasureSettings): number
  set(settings: MeasureSettings, value: number): MeasureSettings
}

/** Percent without the noise of binary fractions. */
const rounded = (value: number) => Number(value.toPrecision(10))

type SecondsKey = 'minSeconds' | 'maxSeconds' | 'maxWarmupSeconds'
const seconds = (key: SecondsKey, title: string, from: number, to: number, rule?: RuleId): PresetField => ({
  id: key, title, unit: 's', from, to, ...(rule ? { rule } : {}), get: (s) => s[key], set: (s, value) => ({ ...s, [key]: value }),
})

/** In the order shown. */
export const PRESET_FIELDS: readonly PresetField[] = [
  { id: 'relativeCi', title: 'Target 95 % CI (±)', unit: '%', from: 0.01, to: 50, rule: 'relative-ci', get: (s) => rounded(s.relativeCi * 100), set: (s, value) => ({ ...s, relativeCi: rounded(value / 100) }) },
  { id: 'minSamples', title: 'Minimum samples', from: 2, to: 100_000, whole: true, rule: 'relative-ci', get: (s) => s.minSamples, set: (s, value) => ({ ...s, minSamples: value }) },
  seconds('minSeconds', 'Minimum time', 0, 600, 'relative-ci'),
  {
    id: 'count', title: 'Samples', from: 1, to: 1_000_000, whole: true, rule: 'fixed-count',
    get: ({ rule }) => (rule?.id === 'fixed-count' ? rule.count : FIXED_COUNT), set: (s, count) => ({ ...s, rule: { id: 'fixed-count', count } }),
  },
  {
    id: 'seconds', title: 'Time', unit: 's', from: 0.001, to: 3600, rule: 'fixed-time',
    get: ({ rule }) => (rule?.id === 'fixed-time' ? rule.seconds : FIXED_SECONDS), set: (s, length) => ({ ...s, rule: { id: 'fixed-time', seconds: length } }),
  },
  seconds('maxSeconds', 'Time limit', 0.01, 3600),
  seconds('maxWarmupSeconds', 'Warm-up limit', 0, 60),
]

/** What a fixed rule begins with when it is chosen. */
const FIXED_COUNT = 100
const FIXED_SECONDS = 1

export const RULES: readonly { id: RuleId; title: string; about: string }[] = [
  { id: 'relative-ci', title: 'Until the 95 % CI reaches the target', about: 'Samples until the 95 % CI of the median reaches the target, after the minimum samples and time.' },
  { id: 'fixed-count', title: 'Fixed number of samples', about: 'Takes this many samples.' },
  { id: 'fixed-time', title: 'Fixed time', about: 'Samples each case for this long.' },
]

export const ruleOf = (settings: MeasureSettings): RuleId => settings.rule?.id ?? 'relative-ci'

/** The fields that the rule of these settings uses. */
export const fieldsOf = (rule: RuleId): PresetField[] => PRESET_FIELDS.filter((field) => field.rule === undefined || field.rule === rule)

/** The settings with another rule; its numbers are those to begin with. */
export function withRule(settings: MeasureSettings, id: RuleId): MeasureSettings {
  const { rule: _before, ...rest } = settings
  if (id === 'relative-ci') return rest
  return { ...rest, rule: id === 'fixed-count' ? { id, count: FIXED_COUNT } : { id, seconds: Math.min(FIXED_SECONDS, settings.maxSeconds) } }
}

/** Whether two settings measure alike. */
export const sameSettings = (a: MeasureSettings, b: MeasureSettings): boolean => canonical(a) === canonical(b)
const canonical = ({ rule = { id: 'relative-ci' }, ...numbers }: MeasureSettings) => JSON.stringify([Object.entries(rule).sort(), Object.entries(numbers).sort()])

/** What is wrong with numbers that are right one by one; belongs to the field `maxSeconds`. */
export function contradiction(settings: MeasureSettings): string | undefined {
  const { rule, minSeconds, maxSeconds } = settings
  if (rule?.id === 'fixed-time' && rule.seconds > maxSeconds) return `Expected at least the sampling time, ${plain(rule.seconds)} s.`
  if (ruleOf(settings) === 'relative-ci' && minSeconds > maxSeconds) return `Expected at least the minimum time, ${plain(minSeconds)} s.`
  return undefined
}
