import { packBlock } from '@core/session/rows'
import type { Services } from '../../app/services'
import { findingsOf } from '../../history/findings'
import type { Handlers } from '../answer'

export const sessionHandlers = ({ history, emit }: Services) =>
  ({
    'sessions:list': (filter) => history.listSessions(filter),
    'sessions:get': ({ id }) => history.getSession(id),
    'sessions:suites': () => history.suiteSessions(),
    'sessions:rows': ({ id, first, count }) => packBlock(history.rows(id, first, count)),
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
  }) satisfies Partial<Handlers>
