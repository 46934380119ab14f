import { remembered, type ChartPoint } from './points'
import { describe, type Facets } from './series'

/** A series among points: what it has in common, its first point, and how many it has. */
export interface Group {
  facets: Facets
  first: ChartPoint
  count: number
}

/** The series of these points in the order they appear: there are few of them, and up to 100,000 points. */
export const groupsOf = (points: readonly ChartPoint[]): readonly Group[] =>
  remembered(points, 'groups', () => {
    const groups = new Map<Facets, Group>()
    for (const point of points) {
      // All cases of a series have the same object.
      const { facets } = describe(point.case)
      const known = groups.get(facets)
      if (known) known.count++
      else groups.set(facets, { facets, first: point, count: 1 })
    }
    return [...groups.values()]
  })

/** The facets of each series of these points. */
export const facetsIn = (points: readonly ChartPoint[]): readonly Facets[] => groupsOf(points).map(({ facets }) => facets)
