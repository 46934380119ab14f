import { findSyntaxProblem } from './syntax'

/** Line and column, both from 1, of a position in a text. */
export function lineAndColumn(text: string, position: number): string {
  const before = text.slice(0, position)
  const line = before.split('\n').length
  return `line ${line}, column ${position - before.lastIndexOf('\n')}`
}

/** Where a text stops being JSON, what should stand there and what does. */
export function jsonSyntaxMessage(text: string): string {
  const problem = findSyntaxProblem(text)
  if (!problem) return 'the file: expected JSON'
  const { position, expected } = problem
  const found = position < text.length ? JSON.stringify(text.slice(position, position + 12)) : 'the end of the file'
  return `${lineAndColumn(text, position)}: expected ${expected}, received ${found}`
}
