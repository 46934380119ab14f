/** A record that cannot be read, in words that say which and where to look. */
export class UnreadableError extends Error {
  override name = 'UnreadableError'
  constructor(what: string, options?: ErrorOptions) {
    super(`${what} is damaged in the history and cannot be read. Settings → History → Check, or "opscope history check", says what else is; a backup can be restored.`, options)
  }
}

/** JSON of the history; `what` names the record for the user. Throws UnreadableError. */
export function parseStored<T>(json: string, what: string): T {
  try {
    return JSON.parse(json) as T
  } catch (error) {
    throw new UnreadableError(what, { cause: error })
  }
}

/** Those of several records that can be read: one that is damaged hides no other, and the check of the history names it. */
export const readable = <T>(rows: readonly { json: string }[]): T[] =>
  rows.flatMap(({ json }) => {
    try {
      return [JSON.parse(json) as T]
    } catch {
      return []
    }
  })
