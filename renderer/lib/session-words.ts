import type { SessionState } from '@core/session/types'

/** States of a session as users read them. */
export const STATE_WORDS: Readonly<Record<SessionState, string>> = { running: 'running', done: 'complete', stopped: 'stopped early', interrupted: 'interrupted' }

/** `a, b, c and 4 more`. */
export function shortList(words: readonly string[], most = 3): string {
  if (words.length <= most) return words.join(', ')
  return `${words.slice(0, most).join(', ')} and ${words.length - most} more`
}
