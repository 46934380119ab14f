import { noteFound } from '../ipc/handlers/python'
import type { Services } from './services'

/** Passes what the runner reports on to the page. */
export function forwardRunnerEvents({ runner, emit, foundPrograms }: Pick<Services, 'runner' | 'emit' | 'foundPrograms'>): void {
  let known: string | undefined
  runner.on('state', (state) => {
    emit('run:state', state)
    // A session that has just begun belongs into the list of sessions.
    if (state.sessionId !== undefined && state.sessionId !== known) emit('sessions:changed', { ids: [state.sessionId] })
    known = state.sessionId
  })
  runner.on('results', (results) => emit('run:results', results))
  runner.on('ended', (ended) => {
    emit('run:ended', ended)
    emit('sessions:changed', { ids: [ended.sessionId] })
  })
  runner.on('devices', (devices) => {
    noteFound(foundPrograms, devices)
    emit('devices:changed', devices)
  })
  runner.on('ceilings', (ceilings) => emit('ceilings:changed', ceilings))
  runner.on('noiseFloors', (floors) => emit('noise:changed', floors))
  runner.on('notice', (notice) => emit('notice', notice))
}
