import { autoBaselinesOf, type AutoBaselines } from '@core/analysis/baseline'
import { SharedWork } from '@core/analysis/opening'
import { remembered, type ChartPoint } from './points'

/** The automatic baselines of these points, as table and answer have them. `shared`: their common work, where it is known. */
export const automaticBaselines = (points: readonly ChartPoint[], shared?: SharedWork): AutoBaselines => remembered(points, 'automatic baselines', () => autoBaselinesOf(shared ?? sharedWorkOf(points)))

function sharedWorkOf(points: readonly ChartPoint[]): SharedWork {
  const shared = new SharedWork()
  for (const point of points) shared.add(point.case)
  return shared
}
