import type { RatingScale } from './types'

const modules = import.meta.glob<{ default: RatingScale }>('./suites/*.ts', { eager: true })

/** Every rating under core/analysis/ratings/suites, by title. */
export const RATINGS: readonly RatingScale[] = Object.values(modules)
  .map((module) => module.default)
  .sort((a, b) => a.title.localeCompare(b.title, 'en'))

export { LibraryTimes } from './libraries'
export type { Rating, RatingScale, RatingSubject } from './types'
