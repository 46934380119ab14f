import type { Channel, EventName } from './ipc'

/** Names of every request and event, without the schemas: the preload starts in every page and needs no more. */
const channels: Record<Channel, true> = {
  'app:info': true,
  'settings:get': true,
  'settings:set': true,
  'devices:list': true,
  'ceilings:list': true,
  'ceilings:measure': true,
  'self-check:run': true,
  'noise:list': true,
  'run:start': true,
  'run:resume-session': true,
  'run:pause': true,
  'run:resume': true,
  'run:stop': true,
  'run:state': true,
  'sessions:list': true,
  'sessions:get': true,
  'sessions:rows': true,
  'sessions:findings': true,
  'sessions:result': true,
  'sessions:update': true,
  'sessions:delete': true,
  'sessions:restore': true,
  'formats:list': true,
  'sessions:export': true,
  'sessions:identifying': true,
  'sessions:import': true,
  'sessions:import-dropped': true,
  'sessions:take-opened': true,
  'sessions:cancel-import': true,
  'compare:run': true,
  'compare:cancel': true,
  'compare:open-files': true,
  'compare:drop-files': true,
  'compare:forget-files': true,
  'compare:save': true,
  'compare:more': true,
  'chart:save': true,
  'history:case': true,
  'history:check': true,
  'history:backup': true,
  'history:restore': true,
  'sessions:tags': true,
  'sessions:merge': true,
  'sessions:split': true,
  'shell:open-link': true,
}

const events: Record<EventName, true> = {
  'run:state': true,
  'run:results': true,
  'run:ended': true,
  'sessions:changed': true,
  'sessions:import-progress': true,
  'sessions:opened': true,
  'devices:changed': true,
  'ceilings:changed': true,
  'noise:changed': true,
  'compare:progress': true,
  'history:progress': true,
  'history:replaced': true,
  'menu:command': true,
  notice: true,
}

/** Bytes a dropped file may have; larger ones go through the dialog, where main reads them. */
export const MAX_DROPPED_BYTES = 2 ** 26

export const CHANNELS: ReadonlySet<string> = new Set(Object.keys(channels))
export const EVENT_NAMES: ReadonlySet<string> = new Set(Object.keys(events))
