import { packBlock } from '@core/session/rows'
import type { Services } from '../../app/services'
import { suiteCheckSteps } from '../../baselines/check-steps'
import { inSlices } from '../../compare/in-slices'
import { findingsOf } from '../../history/findings'
import type { Handlers } from '../answer'

export const sessionHandlers = ({ history, settings, emit }: Services) =>
  ({
    'sessions:list': (filter) => history.listSessions(filter),
    'sessions:get': ({ id }) => history.getSession(id),
    'sessions:suites': () => history.suiteSessions(),
    'suite:previous': async ({ id }) => {
      const { compareThreshold: threshold, compareOpThresholds: byOp } = settings.get()
      const check = await inSlices(suiteCheckSteps(history, id, { threshold, byOp }))
      return check ? { check } : {}
    },
    'sessions:rows': ({ id, first, count }) => ({ ...packBlock(history.rows(id, first, count)), total: history.summary(id).results }),
    'sessions:findings': ({ id }) => findingsOf(history, id),
    'sessions:result': ({ resultId }) => history.result(resultId),
    'sessions:update': ({ id, ...change }) => {
      const summary = history.updateSession(id, change)
      emit('sessions:changed', { ids: [id] })
      return summary
    },
    'sessions:delete': ({ ids }) => {
      const deleted = history.deleteSessions(ids)
      emit('sessions:changed', { ids })
      return { deleted }
    },
    'sessions:restore': ({ ids }) => {
      const restored = history.restoreSessions(ids)
      emit('sessions:changed', { ids })
      return { restored }
    },
    'sessions:end': ({ id }) => {
      // Of one that another process has resumed meanwhile nothing changes.
      if (history.interrupted().some((session) => session.id === id)) history.setState(id, 'stopped')
      emit('sessions:changed', { ids: [id] })
      return history.summary(id)
    },
  }) satisfies Partial<Handlers>
