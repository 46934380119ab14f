import { type Rating, type RatingScale, SCALES } from './scales'

/** Every rating scale, by title. */
export const RATINGS: readonly RatingScale[] = [...SCALES].sort((a, b) => a.title.localeCompare(b.title, 'en'))

/** What the ratings of a session come to: `12 excellent, 3 good`, best first. Undefined without ratings. */
export function summaryOf(scale: RatingScale, ratings: readonly Rating[]): string | undefined {
  const rated = ratings.filter((rating) => rating.ok)
  if (!rated.length) return undefined
  if (scale.summarize) return scale.summarize(rated)
  const words = new Map<string, number>()
  for (const { text } of [...rated].sort((a, b) => b.score - a.score)) words.set(text, (words.get(text) ?? 0) + 1)
  return [...words].map(([word, count]) => `${count} ${word}`).join(', ')
}

export { LibraryTimes } from './libraries'
export type { Rating, RatingScale, RatingSubject } from './scales'
