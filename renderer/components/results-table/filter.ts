/** Whether a value passes; `undefined` stands for an empty filter. */
export type Parsed<T> = { ok: true; test: ((value: T) => boolean) | undefined } | { ok: false; message: string }

/** Words of a column filter: alternatives separated by commas, `=` in front for the whole word, `!` for all but it. */
export function parseTextFilter(text: string): Parsed<string> {
  const parts = text.toLowerCase().split(',').map((part) => part.trim()).filter(Boolean)
  if (!parts.length) return { ok: true, test: undefined }
  const wanted = parts.filter((part) => !part.startsWith('!'))
  const barred = parts.filter((part) => part.startsWith('!')).map((part) => part.slice(1).trim()).filter(Boolean)
  const meets = (value: string, part: string) => (part.startsWith('=') ? value === part.slice(1).trim() : value.includes(part))
  return {
    ok: true,
    test: (value) => {
      const lower = value.toLowerCase()
      return (!wanted.length || wanted.some((part) => meets(lower, part))) && !barred.some((part) => meets(lower, part))
    },
  }
}

const NUMBER = String.raw`[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?`
const COMPARISON = new RegExp(`^(<=|>=|<|>|=)?\\s*(${NUMBER})$`, 'i')
const RANGE = new RegExp(`^(${NUMBER})\\s*\\.\\.\\s*(${NUMBER})$`, 'i')

/** Bounds of a number column in the unit it shows: `> 10`, `<= 2.5`, `10..20`, `= 4`. A bare number means at least. */
export function parseNumberFilter(text: string): Parsed<number> {
  const trimmed = text.trim()
  if (!trimmed) return { ok: true, test: undefined }
  const range = RANGE.exec(trimmed)
  if (range) {
    const [low, high] = [Number(range[1]), Number(range[2])]
    return { ok: true, test: (value) => value >= low && value <= high }
  }
  const match = COMPARISON.exec(trimmed)
  if (!match) return { ok: false, message: 'Expected a bound such as > 10, <= 2.5 or 10..20' }
  const bound = Number(match[2])
  switch (match[1]) {
    case '<': return { ok: true, test: (value) => value < bound }
    case '<=': return { ok: true, test: (value) => value <= bound }
    case '>': return { ok: true, test: (value) => value > bound }
    case '=': return { ok: true, test: (value) => Math.abs(value - bound) <= Math.abs(bound) * 0.005 }
    default: return { ok: true, test: (value) => value >= bound }
  }
}
