import type { Device } from '@core/backend'
import { listed } from './words'

/** Sentences that are told of at once, at most. */
const MOST = 6

/**
 * What a user should know of devices before a run on them, device by device; undefined when there is nothing.
 * Disturbances are told each time, since they come and go; a warning only while `told` does not hold it, which takes it in.
 */
export function concernsOf(devices: readonly Device[], told: Set<string>): string | undefined {
  const byName = new Map<string, Set<string>>()
  for (const { name, disturbances = [], warnings } of devices) {
    const texts = byName.get(name) ?? new Set()
    const fresh = warnings.filter((text) => !told.has(`${name}: ${text}`))
    for (const text of fresh) told.add(`${name}: ${text}`)
    for (const text of [...disturbances, ...fresh]) texts.add(text.replace(/[.]$/, ''))
    byName.set(name, texts)
  }
  const sentences = [...byName].flatMap(([name, texts]) => [...texts].map((text, i) => (i === 0 ? `${name}: ${text}` : text)))
  return sentences.length === 0 ? undefined : `Worth knowing about this run: ${listed(sentences, MOST, '. ')}.`
}
