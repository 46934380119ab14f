import { findSyntaxProblem } from './syntax'

/** Where a text stops being JSON, what should stand there and what does. */
function describe(text: string, place: (position: number) => string): string {
  const problem = findSyntaxProblem(text)
  if (!problem) return 'expected JSON'
  const { position, expected } = problem
  const found = position < text.length ? JSON.stringify(text.slice(position, position + 12)) : 'the end'
  return `${place(position)}: expected ${expected}, received ${found}`
}

/** `line 4, column 12: expected a comma or }, received "..."`; both from 1. */
export const jsonSyntaxMessage = (text: string): string =>
  describe(text, (position) => {
    const before = text.slice(0, position)
    return `line ${before.split('\n').length}, column ${position - before.lastIndexOf('\n')}`
  }).replace(/received the end$/, 'received the end of the file')

/** The same for a text that is one line of a file. */
export const jsonSyntaxProblem = (line: string): string => describe(line, (position) => `column ${position + 1}`).replace(/received the end$/, 'received the end of the line')
