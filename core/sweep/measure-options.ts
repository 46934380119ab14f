import type { MeasureSettings, StoppingRule } from '../measure/settings'
import type { SweepSpec } from '../session/sweep-spec'

/** Options of `opscope run` that say how to measure, as typed. */
export interface MeasureOptions {
  rule?: string
  ci?: string
  minSamples?: string
  minSeconds?: string
  maxSeconds?: string
  repeats?: string
  /** The flag alone, or `on`, `off`. */
  energy?: string | boolean
  /** The same, or `auto`. */
  rounds?: string | boolean
}

type How = Pick<SweepSpec, 'measure' | 'repeats'>

/** Reads a number that `text` is in full, with one of these units behind it; undefined when it is not. */
function amount(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const [, digits, unit = ''] = /^\s*(\d*\.?\d+(?:e[+-]?\d+)?)\s*([a-zµ%]*)\s*$/i.exec(text) ?? []
  const factor = units[unit.toLowerCase()]
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor
}

const SECONDS = { '': 1, s: 1, ms: 1e-3 }
const FRACTION = { '': 1, '%': 0.01 }
const COUNT = { '': 1 }

/** `typed` is what the user wrote, where the number is only a part of it. */
function read(option: string, text: string, expected: string, units: Readonly<Record<string, number>>, fits: (value: number) => boolean, typed = text): number {
  const value = amount(text, units)
  if (value !== undefined && fits(value)) return value
  throw new RangeError(`--${option} ${typed} is not understood; expected ${expected}`)
}

const whole = (least: number, most: number) => (value: number) => Number.isInteger(value) && value >= least && value <= most

const RULES = 'relative-ci, fixed-count=100 or fixed-time=0.5s'

function readRule(text: string): StoppingRule {
  const [id, value, ...rest] = text.split('=')
  if (id === 'relative-ci' && value === undefined) return { id }
  if (id === 'fixed-count' && value !== undefined && rest.length === 0) return { id, count: read('rule', text.slice(id.length + 1), `${RULES}, with 1 to 1000000 samples`, COUNT, whole(1, 1e6), text) }
  if (id === 'fixed-time' && value !== undefined && rest.length === 0) return { id, seconds: read('rule', text.slice(id.length + 1), `${RULES}, with more than 0 and at most 3600 s`, SECONDS, (s) => s > 0 && s <= 3600, text) }
  throw new RangeError(`--rule ${text} is not understood; expected ${RULES}`)
}

/** What the options say. Throws RangeError with what was expected. Nothing is in it that was not given. */
export function readMeasureOptions({ rule, ci, minSamples, minSeconds, maxSeconds, repeats, energy, rounds }: MeasureOptions): How {
  const measure: Partial<MeasureSettings> = {}
  if (rule !== undefined) measure.rule = readRule(rule)
  if (ci !== undefined) measure.relativeCi = read('ci', ci, 'a share such as 0.5% or 0.005', FRACTION, (share) => share > 0 && share <= 1)
  if (minSamples !== undefined) measure.minSamples = read('min-samples', minSamples, 'a whole number from 2', COUNT, whole(2, 1e6))
  if (minSeconds !== undefined) measure.minSeconds = read('min-seconds', minSeconds, 'a time such as 0.5, 0.5s or 500ms', SECONDS, (s) => s >= 0 && s <= 3600)
  if (maxSeconds !== undefined) measure.maxSeconds = read('max-seconds', maxSeconds, 'a time above 0 such as 10 or 10s', SECONDS, (s) => s > 0 && s <= 3600)
  if (measure.minSeconds !== undefined && measure.maxSeconds !== undefined && measure.minSeconds > measure.maxSeconds) throw new RangeError(`--min-seconds ${minSeconds} is more than --max-seconds ${maxSeconds}; expected it to be less`)
  if (energy !== undefined) measure.energy = readChoice('energy', energy)
  if (rounds !== undefined && rounds !== 'auto') measure.rounds = readChoice('rounds', rounds)
  const times = repeats === undefined ? undefined : read('repeats', repeats, 'a whole number from 1 to 50', COUNT, whole(1, 50))
  return { ...(Object.keys(measure).length > 0 ? { measure } : {}), ...(times === undefined || times === 1 ? {} : { repeats: times }) }
}

/** A choice as given: the flag alone, or `on`, `off`. */
function readChoice(option: string, given: string | boolean): boolean {
  if (given !== true && given !== 'on' && given !== 'off') throw new RangeError(`--${option} ${given} is not understood; expected on${option === 'rounds' ? ', off or auto' : ' or off'}`)
  return given !== 'off'
}

function ruleText(rule: StoppingRule): string {
  switch (rule.id) {
    case 'relative-ci':
      return rule.id
    case 'fixed-count':
      return `${rule.id}=${rule.count}`
    case 'fixed-time':
      return `${rule.id}=${rule.seconds}s`
  }
}

/** A fraction in percent without the dust of binary fractions: `0.5%`. */
const percent = (fraction: number) => `${Number((fraction * 100).toPrecision(12))}%`

/** The options, name and text, that `readMeasureOptions` reads as these. */
export function measureOptionTexts({ measure = {}, repeats = 1 }: How): [name: string, text: string][] {
  const { rule, relativeCi, minSamples, minSeconds, maxSeconds, energy, rounds } = measure
  const choice = (on: boolean | undefined) => (on === undefined ? undefined : on ? 'on' : 'off')
  const given: [string, string | undefined][] = [
    ['rule', rule && ruleText(rule)],
    ['ci', relativeCi === undefined ? undefined : percent(relativeCi)],
    ['min-samples', minSamples?.toString()],
    ['min-seconds', minSeconds?.toString()],
    ['max-seconds', maxSeconds?.toString()],
    ['energy', choice(energy)],
    ['rounds', choice(rounds)],
    ['repeats', repeats === 1 ? undefined : repeats.toString()],
  ]
  return given.filter((option): option is [string, string] => option[1] !== undefined)
}
