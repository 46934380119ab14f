import type { Pair } from '@core/compare'
import type { Services } from '../../app/services'
import { compareStored } from '../../history/compare'
import type { Handlers } from '../answer'

export const compareHandlers = ({ history, runner, settings }: Services) =>
  ({
    'compare:run': (request) => compareStored(history, request, settings.get().compareThreshold),
    'compare:more': ({ sessionId, pairs }) => runner.interleave(pairs.map(({ baseline, side }, i): Pair => ({ id: `pair-${i}`, a: history.result(baseline).case, b: history.result(side).case })), sessionId),
  }) satisfies Partial<Handlers>
