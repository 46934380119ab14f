import type { BenchmarkCase, Params } from '../../case'
import type { Result } from '../../result'

/** `executable` of files that Opscope wrote: their names carry a whole case. */
export const OUR_EXECUTABLE = 'opscope'

/** Parts of a benchmark's name: separated by slashes, but not within angle brackets (`BM_Sum<a/b>/64`). */
function splitName(name: string): string[] {
  const parts = ['']
  let depth = 0
  for (const ch of name) {
    if (ch === '<') depth++
    if (ch === '>') depth--
    if (ch === '/' && depth <= 0) parts.push('')
    else parts[parts.length - 1] += ch
  }
  return parts
}

/** What a name says: the benchmark, its arguments, and how it was timed. */
export interface ParsedName {
  op: string
  params: Params
  threads?: number
  /** Rates count real time, not processor time. */
  realTime: boolean
}

/** Settings that stand in a name like arguments. */
const SETTINGS = /^(?:min_time|min_warmup_time|repeats|iterations)$/
const number = (text: string): number | undefined => (/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined)

/** `BM_Add/rows:16/64/real_time/threads:2`: arguments with names keep them, others are `arg0`, `arg1`, ... by place. */
export function parseName(name: string): ParsedName {
  const [op = '', ...rest] = splitName(name)
  const params: Params = {}
  const parsed: ParsedName = { op: op || name, params, realTime: false }
  let place = 0
  for (const part of rest) {
    const colon = part.indexOf(':')
    const key = colon < 0 ? '' : part.slice(0, colon)
    const value = part.slice(colon + 1)
    if (part === 'real_time' || part === 'manual_time') parsed.realTime = true
    else if (part === 'process_time' || SETTINGS.test(key)) continue
    else if (key === 'threads' && /^[1-9]\d{0,3}$/.test(value) && Number(value) <= 4096) parsed.threads = Number(value)
    else params[key !== '' && !(key in Object.prototype) ? key : `arg${place++}`] = number(value) ?? value
  }
  return parsed
}

const encode = (text: string) => text.replace(/[%/<>:]/g, (ch) => `%${ch.charCodeAt(0).toString(16).toUpperCase()}`)
const decode = (text: string) => text.replace(/%(25|2F|3C|3E|3A)/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))

const FIELDS = ['dtype', 'backend', 'impl', 'device', 'mode'] as const
/** Tells a parameter's word from a number of the same spelling. */
const WORD = "'"

/** A whole case as a name that keeps every part of it. */
function caseName(c: BenchmarkCase): string {
  const params = Object.keys(c.params).sort().map((key) => `p.${encode(key)}:${typeof c.params[key] === 'string' ? WORD : ''}${encode(String(c.params[key]))}`)
  return [encode(c.op), ...params, ...FIELDS.map((field) => `${field}:${encode(c[field])}`), ...(c.threads === undefined ? [] : [`threads:${c.threads}`])].join('/')
}

/** The same for one result: repeats of a sweep and blocks of an interleaved comparison have names of their own. */
export function resultName({ case: c, run, block }: Pick<Result, 'case' | 'run' | 'block'>): string {
  return [caseName(c), ...(run === undefined ? [] : [`run:${run}`]), ...(block ? [`pair:${encode(block.pair)}`, `quad:${block.quad}`, `place:${block.place}`] : [])].join('/')
}

/** Which repeat `resultName` wrote. */
export function parseRun(name: string): number | undefined {
  const [, digits] = /\/run:(\d{1,6})(?:\/|$)/.exec(name) ?? []
  return digits === undefined ? undefined : Number(digits)
}

/** The case that `caseName` or `resultName` wrote; undefined for a name that is not like that. Fields are not checked. */
export function parseCaseName(name: string): Record<keyof Omit<BenchmarkCase, 'threads'>, unknown> & { threads: number | undefined } | undefined {
  const [op = '', ...rest] = name.split('/')
  const params: Record<string, Params[string]> = {}
  const fields: Record<string, string> = {}
  for (const part of rest) {
    const colon = part.indexOf(':')
    const key = part.slice(0, Math.max(0, colon))
    const value = part.slice(colon + 1)
    if (!key.startsWith('p.')) fields[key] = decode(value)
    else if (value.startsWith(WORD)) params[decode(key.slice(2))] = decode(value.slice(1))
    else {
      const read = value === 'true' ? true : value === 'false' ? false : number(value)
      if (read === undefined) return undefined
      params[decode(key.slice(2))] = read
    }
  }
  const { dtype, backend, impl, device, mode, threads } = fields
  if (FIELDS.some((field) => fields[field] === undefined)) return undefined
  return { op: decode(op), params, dtype, backend, impl, device, mode, threads: threads === undefined ? undefined : Number(threads) }
}
