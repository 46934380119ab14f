import { printParseErrorCode, visit } from 'jsonc-parser'

const BARE = /-?(?:NaN|nan|Infinity|inf)\b/y

/** Where the string that begins at `from` ends (behind its closing quote), or the text's end. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return text.length
}

/**
 * JSON as programs write it that print floating-point numbers as they are: NaN, nan, Infinity, inf and their negatives
 * stand for numbers. NaN reads as null, the others as ±Infinity. Undefined when it is not JSON apart from that.
 */
export function parseLooseJson(text: string): unknown {
  const parts: string[] = []
  let kept = 0
  for (let at = 0; at < text.length; at++) {
    const ch = text[at]
    if (ch === '"') {
      at = endOfString(text, at) - 1
      continue
    }
    if (ch !== 'N' && ch !== 'n' && ch !== 'I' && ch !== 'i' && ch !== '-') continue
    BARE.lastIndex = at
    const word = BARE.exec(text)?.[0]
    if (word === undefined) continue
    // A number of JSON that is too large to hold reads as infinite.
    parts.push(text.slice(kept, at), /nan$/i.test(word) ? 'null' : word.startsWith('-') ? '-1e999' : '1e999')
    at += word.length - 1
    kept = at + 1
  }
  try {
    return JSON.parse(parts.join('') + text.slice(kept))
  } catch {
    return undefined
  }
}

/** Where a text stops being JSON (RFC 8259): line and column from 1, and what should stand there. */
export interface SyntaxProblem {
  position: number
  line: number
  column: number
  expected: string
}

/** Problems inside a text; what else is wrong stands where something else should. */
const IN_STRING = new Set(['UnexpectedEndOfString', 'InvalidUnicode', 'InvalidEscapeCharacter', 'InvalidCharacter'])

/** The parser recurses into what is nested; no session is nested nearly as deep. */
const MAX_DEPTH = 500

/** Ends the parser at the first problem: it would go on and report what follows from it. */
class Found extends Error {
  constructor(readonly problem: SyntaxProblem) {
    super(problem.expected)
  }
}

/**
 * The first place where a text is not JSON, or undefined. The engine's own messages change with its version and often have
 * no position.
 */
export function findSyntaxProblem(text: string): SyntaxProblem | undefined {
  const open: ('}' | ']')[] = []
  let next = 'a value'
  const found = (expected: string, position: number, line: number, character: number): never => {
    throw new Found({ position, line: line + 1, column: character + 1, expected })
  }
  const enter = (close: '}' | ']') => (position: number, _length: number, line: number, character: number) => {
    if (open.push(close) > MAX_DEPTH) found(`no more than ${MAX_DEPTH} levels`, position, line, character)
    next = close === '}' ? 'a name in quotes or }' : 'a value or ]'
  }
  const valueEnded = () => {
    const inside = open.at(-1)
    next = inside ? `a comma or ${inside}` : 'the end of the file'
  }
  const leave = () => {
    open.pop()
    valueEnded()
  }
  try {
    visit(
      text,
      {
        onObjectBegin: enter('}'),
        onArrayBegin: enter(']'),
        onObjectProperty: () => void (next = 'a colon'),
        onSeparator: (sign) => void (next = sign === ',' && open.at(-1) === '}' ? 'a name in quotes' : 'a value'),
        onLiteralValue: valueEnded,
        onObjectEnd: leave,
        onArrayEnd: leave,
        onError: (code, position, _length, line, character) => found(IN_STRING.has(printParseErrorCode(code)) ? 'a text that is closed and properly escaped' : next, position, line, character),
      },
      { disallowComments: true },
    )
  } catch (error) {
    if (error instanceof Found) return error.problem
    throw error
  }
  return undefined
}

/** What should stand where a text stops being JSON, and what does. */
function describe(text: string, place: (problem: SyntaxProblem) => string, end: string): string {
  const problem = findSyntaxProblem(text)
  if (!problem) return 'expected JSON'
  const received = problem.position < text.length ? JSON.stringify(text.slice(problem.position, problem.position + 12)) : end
  return `${place(problem)}: expected ${problem.expected}, received ${received}`
}

/** `line 4, column 12: expected a comma or }, received "..."`; both from 1. */
export const jsonSyntaxMessage = (text: string): string => describe(text, ({ line, column }) => `line ${line}, column ${column}`, 'the end of the file')

/** The same for a text that is one line of a file. */
export const jsonSyntaxProblem = (line: string): string => describe(line, ({ column }) => `column ${column}`, 'the end of the line')

/** Shortest decimal text that reads back to the same bits; JSON.stringify alone drops the sign of -0. */
const number = (value: number) => (Object.is(value, -0) ? '-0' : JSON.stringify(value))

/** JSON on one line. Maps of parameters and variants are sorted, so that equal sessions give equal text. */
export function writeJson(value: unknown, sorted = false): string {
  if (typeof value === 'number') return number(value)
  if (Array.isArray(value)) {
    // Samples are nearly all of a file; the engine writes them an order of magnitude faster.
    if (value.every((item) => typeof item === 'number' && (item !== 0 || !Object.is(item, -0)))) return JSON.stringify(value)
    return `[${value.map((item) => writeJson(item)).join(',')}]`
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined)
    if (sorted) entries.sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${writeJson(item, key === 'params' || key === 'variants' || key === 'kernels')}`).join(',')}}`
  }
  return JSON.stringify(value)
}
