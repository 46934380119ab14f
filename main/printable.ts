/** Control characters apart from the line's end and the tab, and those that turn the direction of what follows. */
const STEERING = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/**
 * A text as a terminal may show it: characters that would steer it, wherever they come from (names in files, errors of
 * drivers), stand as JSON escapes, so that JSON stays the same JSON. Everything that is printed goes through this.
 */
export const printable = (text: string): string => text.replace(STEERING, escaped)

/** The same on one line: a stored text must not forge a line either. */
export const oneLine = (text: string): string => printable(text.replace(/(\r\n?|[\n\t\v\f\u0085\u2028\u2029])+/g, ' '))
