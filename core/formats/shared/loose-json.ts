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
