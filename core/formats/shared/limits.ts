/**
 * What one file may hold, so that reading it takes less than 500 MB of memory whatever is in it (test/bench/attack-files
 * measures that): 64 MiB, some 50,000 results.
 */
export const MAX_BYTES = 2 ** 26
/** Values: numbers, texts, members, cells. */
const MAX_VALUES = 3_500_000
/** Objects, lists and lines: each takes far more memory than text. A session has a dozen for each of its results, files of other tools have one or two. */
const MAX_GROUPS = { session: 1_400_000, other: 200_000 }
/** Members of one object. */
const MAX_MEMBERS = 20_000

const [QUOTE, ESCAPE, COMMA, COLON, LINE, TAB, SEMICOLON, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [...'"\\,:\n\t;[]{}'].map((character) => character.charCodeAt(0))

/** Where in a text a session says that it is one. */
const HEAD = 4096

/** What a text has too much of to be parsed, in words; undefined where it is within the limits. Counts only: the text may be anything. */
export function sizeProblem(text: string): string | undefined {
  const maxGroups = text.slice(0, HEAD).includes('"schemaVersion"') ? MAX_GROUPS.session : MAX_GROUPS.other
  const isJson = /^\s*[[{]/.test(text)
  const members: number[] = []
  let [values, groups, depth] = [0, 0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE && isJson) {
      for (at++; at < text.length && text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === ESCAPE) at++
    } else if (code === COMMA || code === SEMICOLON || code === TAB) values++
    else if (code === LINE) groups += isJson ? 0 : 1
    else if (isJson && (code === OPEN_LIST || code === OPEN_OBJECT)) {
      groups++
      depth++
      members[depth] = 0
    } else if (isJson && (code === CLOSE_LIST || code === CLOSE_OBJECT)) depth = Math.max(0, depth - 1)
    else if (isJson && code === COLON && (members[depth] = (members[depth] ?? 0) + 1) > MAX_MEMBERS) return `an object with more than ${MAX_MEMBERS.toLocaleString('en-US')} members, the most that is read`
    if (values > MAX_VALUES) return `more than ${MAX_VALUES.toLocaleString('en-US')} values, the most that is read`
    if (groups > maxGroups) return `more than ${maxGroups.toLocaleString('en-US')} ${isJson ? 'objects and lists' : 'lines'}, the most that is read`
  }
  return undefined
}
