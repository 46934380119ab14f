import { LibraryTimes, RATINGS, summaryOf, type Rating, type RatingScale } from '@core/analysis/ratings'
import type { Efficiency, TextColumn } from './column'
import { timingOf } from './speedup'
import type { RowSource } from '../../../stores/rows/result-rows'

interface Known {
  version: number
  times: LibraryTimes
}

/** Times of libraries in a session, looked through once for all its rows and again when rows were added. */
const known = new WeakMap<RowSource, Known>()

function libraryTimes(rows: RowSource): LibraryTimes {
  const { version } = rows
  const kept = known.get(rows)
  if (kept?.version === version) return kept.times
  const times = new LibraryTimes()
  for (let row = 0; row < rows.length; row++) if (rows.status(row) === 'ok') times.add(rows.case(row), timingOf(rows, row))
  known.set(rows, { version, times })
  return times
}

const finite = (value: number) => (Number.isFinite(value) ? value : undefined)

function rate(scale: RatingScale, rows: RowSource, row: number, efficiency: Efficiency): Rating | undefined {
  const medianNs = rows.number(row, 'medianNs')
  if (rows.status(row) !== 'ok' || !(medianNs > 0)) return undefined
  const c = rows.case(row)
  return scale.rate({
    case: c, medianNs,
    efficiency: finite(efficiency(rows, row)),
    bandwidthShare: finite(efficiency.bandwidthShare(rows, row)),
    fastestNs: (library) => libraryTimes(rows).fastestNs(c, timingOf(rows, row), library),
  })
}

/** The suites' ratings as columns to choose; a dash tells on hover what a rating would need. */
export const ratingColumns: readonly TextColumn[] = RATINGS.map((scale): TextColumn => ({
  id: `rating-${scale.id}`, title: scale.title, about: scale.about, kind: 'text', width: 150, optional: true,
  text: (rows, row, efficiency) => {
    const rating = rate(scale, rows, row, efficiency)
    return rating?.ok ? rating.text : ''
  },
  rank: (rows, row, efficiency) => {
    const rating = rate(scale, rows, row, efficiency)
    return rating?.ok ? rating.score : NaN
  },
  summary: (rows, efficiency) => summaryOf(scale, Array.from({ length: rows.length }, (_, row) => rate(scale, rows, row, efficiency)).filter((rating) => rating !== undefined)),
  absence: (rows, row, efficiency) => {
    const rating = rate(scale, rows, row, efficiency)
    return rating && !rating.ok ? rating.reason : undefined
  },
}))
