import type { Services } from '../../app/services'
import type { Handlers } from '../answer'

export const baselineHandlers = ({ baselines, history, emit }: Pick<Services, 'baselines' | 'history' | 'emit'>) =>
  ({
    'baselines:get': () => baselines.read(),
    'baselines:set': ({ pins }, asker) => {
      const before = new Set(baselines.read().pins.map(({ sessionId }) => sessionId))
      // What is pinned anew must be there; the session of an older pin may have been deleted.
      for (const { sessionId } of pins) if (!before.has(sessionId)) history.summary(sessionId)
      const next = baselines.setPins(pins)
      emit('baselines:changed', next, { except: asker })
      return next
    },
  }) satisfies Partial<Handlers>
