import { sessionFileSchema } from '../../session/types'
import { mix32 } from '../../values/random'
import { ImportSource, type FileFormat, type ImportOutcome } from '../file-format'
import { importSession } from '../registry'
import { consistencyProblem } from '../shared/check'

/** How damaged files fared. */
export interface MutationReport {
  accepted: number
  refused: number
  /** Taken for another format, or for none. */
  foreign: number
  /** What must not be: `seed 17: threw RangeError: ...`. At most ten. */
  problems: string[]
}

/** What an importer may never answer; undefined when the answer is a valid session, one message, or "not mine". */
function outcomeProblem(outcome: ImportOutcome | null): string | undefined {
  if (outcome === null) return undefined
  if (!outcome.ok) return /\S/.test(outcome.message) && outcome.message.length < 1000 ? undefined : `a message of ${outcome.message.length} characters`
  const parsed = sessionFileSchema.safeParse(outcome.file)
  if (!parsed.success) return `accepted a session that is not valid: ${parsed.error.issues[0]?.path.join('.')} ${parsed.error.issues[0]?.message}`
  const inconsistent = consistencyProblem(outcome.file)
  return inconsistent === undefined ? undefined : `accepted a session that is not consistent: ${inconsistent}`
}

/**
 * Damages good files in every way of mutate.ts and has the importer read each, alone and through the registry in turn.
 * The same seed gives the same files.
 */
export function checkImporter(format: FileFormat, bases: readonly string[], count: number, seed = 20260101): MutationReport {
  const report: MutationReport = { accepted: 0, refused: 0, foreign: 0, problems: [] }
  for (let i = 0; i < count && report.problems.length < 10; i++) {
    const text = mutate(bases[i % bases.length]!, seed + i)
    try {
      const outcome = i % 4 === 3 ? importSession('m', text, '2026-01-01T00:00:00.000Z') : format.importSession!(new ImportSource('m', text, '2026-01-01T00:00:00.000Z'))
      report[outcome === null ? 'foreign' : outcome.ok ? 'accepted' : 'refused']++
      const problem = outcomeProblem(outcome)
      if (problem !== undefined) report.problems.push(`seed ${seed + i}: ${problem}`)
    } catch (error) {
      report.problems.push(`seed ${seed + i}: threw ${error instanceof Error ? (error.stack ?? error.message).slice(0, 600) : String(error)}`)
    }
  }
  return report
}

/** Whole numbers below a bound, decided by the seed. */
function seededBelow(seed: number): (bound: number) => number {
  let state = seed >>> 0
  return (bound) => (state = mix32((state + 0x9e3779b9) >>> 0)) % bound
}

/** Texts, numbers and words: what a file consists of, whether JSON or CSV. */
const TOKENS = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"|-?\d[\w.+-]*|[A-Za-z_][\w:/. -]*/g

/** Values of every wrong type, numbers no clock gives, and words programs write for numbers. */
const VALUES = [
  'null', 'true', '{}', '[]', '""', '"x"', '0', '-1', '-0', '1e308', '1e999', '-1e999', '5e-324', '9007199254740993', '123456789012345678901234567890', 'NaN', 'Infinity', '-Infinity', 'nan',
  '"NaN"', '"1e999"', '"-5"', '"=1+1"', '[null]', '[[]]', '{"a":1}', '"__proto__"', '"\\u0000"', '"\ud800"', '1.5', '"<script>"', `"${'n'.repeat(5000)}"`, '',
]

const PIECES = ['{', '}', '[', ']', '"', ',', ':', '\n', '\r', '\u0000', '\\', '\ufeff', '-', 'e', '.', '"__proto__":{},', '"constructor":1,', '\t', "'", '=']

/** One file out of a good one, by one to three kinds of damage that the seed decides. */
function mutate(base: string, seed: number): string {
  const below = seededBelow(seed)
  let text = base
  for (let times = 1 + below(3); times > 0; times--) text = OPERATORS[below(OPERATORS.length)]!(text, below)
  return text
}

type Operator = (text: string, below: (bound: number) => number) => string

const spliced = (text: string, from: number, to: number, piece: string) => text.slice(0, from) + piece + text.slice(to)

/** A token of the text, by place; undefined in a text without any. */
function token(text: string, below: (bound: number) => number, wanted: (word: string) => boolean = () => true): { from: number; to: number; word: string } | undefined {
  // From a random place on, so that not the whole text is searched each time.
  TOKENS.lastIndex = below(Math.max(1, text.length))
  for (let tries = 0; tries < 8; tries++) {
    const match = TOKENS.exec(text)
    if (!match) return undefined
    if (wanted(match[0])) return { from: match.index, to: match.index + match[0].length, word: match[0] }
  }
  return undefined
}

const replaceToken = (wanted: (word: string) => boolean, pick: (below: (bound: number) => number) => string): Operator => (text, below) => {
  const found = token(text, below, wanted)
  return found ? spliced(text, found.from, found.to, pick(below)) : text
}

function lines(text: string, below: (bound: number) => number, change: (all: string[], at: number) => void): string {
  const all = text.split('\n')
  change(all, below(all.length))
  return all.join('\n')
}

const OPERATORS: readonly Operator[] = [
  // Cut off.
  (text, below) => text.slice(0, below(text.length + 1)),
  // A few characters lost, changed or put in.
  (text, below) => {
    const at = below(text.length + 1)
    return spliced(text, at, at + below(4), '')
  },
  (text, below) => {
    const at = below(Math.max(1, text.length))
    return spliced(text, at, at + 1, String.fromCharCode(below(0x7f)))
  },
  (text, below) => {
    const at = below(text.length + 1)
    return spliced(text, at, at, PIECES[below(PIECES.length)]!)
  },
  // A value of another type, a number out of range, one that is none.
  replaceToken(() => true, (below) => VALUES[below(VALUES.length)]!),
  replaceToken((word) => /^-?\d/.test(word), (below) => VALUES[below(VALUES.length)]!),
  replaceToken((word) => /^-?\d/.test(word), (below) => `${below(2) ? '-' : ''}${below(1000)}e${below(700) - 350}`),
  // Nested deeper than any reader should follow.
  replaceToken(() => true, (below) => {
    const depth = 1 + below(200)
    return below(2) ? '['.repeat(depth) + ']'.repeat(depth) : `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  }),
  // A key that is there twice, or another's.
  (text, below) => {
    const found = token(text, below, (word) => word.startsWith('"'))
    return found && /^\s*:/.test(text.slice(found.to)) ? spliced(text, found.from, found.from, `${found.word}:${VALUES[below(VALUES.length)]!},`) : text
  },
  (text, below) => {
    const one = token(text, below)
    const other = token(text, below)
    return one && other ? spliced(text, one.from, one.to, other.word) : text
  },
  // Whole lines lost, doubled, in another order.
  (text, below) => lines(text, below, (all, at) => all.splice(at, 1 + below(3))),
  (text, below) => lines(text, below, (all, at) => all.splice(at, 0, all[below(all.length)]!)),
  // Pieces of the file in place of others.
  (text, below) => {
    const from = below(text.length + 1)
    const at = below(text.length + 1)
    return spliced(text, at, at + below(200), text.slice(from, from + below(200)))
  },
]
