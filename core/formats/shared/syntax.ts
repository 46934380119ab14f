/** Where a text stops being JSON and what should stand there. */
export interface SyntaxProblem {
  position: number
  expected: string
}

const SPACE = /[ \t\r\n]*/y
// RFC 8259: no control characters inside a string, only its own escapes.
const STRING = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uffff]*)*"/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/**
 * The first place where a text is not JSON (RFC 8259), or undefined. The engine's own messages name it in words that
 * change with its version and often without a position. Walks without recursion.
 */
export function findSyntaxProblem(text: string): SyntaxProblem | undefined {
  let at = 0
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    if (!pattern.test(text)) return false
    at = pattern.lastIndex
    return true
  }
  const open: ('{' | '[')[] = []
  let want: 'value' | 'value or ]' | 'key' | 'key or }' | 'end' = 'value'
  for (;;) {
    take(SPACE)
    const ch = text[at]
    if (want === 'end') {
      const inside = open.at(-1)
      if (!inside) return at < text.length ? { position: at, expected: 'the end of the file' } : undefined
      if (ch === ',') want = inside === '{' ? 'key' : 'value'
      else if (ch === (inside === '{' ? '}' : ']')) open.pop()
      else return { position: at, expected: inside === '{' ? 'a comma or }' : 'a comma or ]' }
      at++
    } else if (want === 'key' || want === 'key or }') {
      if (want === 'key or }' && ch === '}') {
        open.pop()
        at++
        want = 'end'
      } else {
        if (!take(STRING)) return { position: at, expected: want === 'key' ? 'a name in quotes' : 'a name in quotes or }' }
        take(SPACE)
        if (text[at] !== ':') return { position: at, expected: 'a colon' }
        at++
        want = 'value'
      }
    } else if (want === 'value or ]' && ch === ']') {
      open.pop()
      at++
      want = 'end'
    } else if (ch === '{' || ch === '[') {
      open.push(ch)
      at++
      want = ch === '{' ? 'key or }' : 'value or ]'
    } else if (take(STRING) || take(SCALAR)) want = 'end'
    else return { position: at, expected: ch === '"' ? 'a text that is closed and properly escaped' : want === 'value' ? 'a value' : 'a value or ]' }
  }
}
