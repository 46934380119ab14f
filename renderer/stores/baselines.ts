import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { checkText, isAlert, NO_BASELINES, renamePin, slowestText, withPin, type Baselines, type Check, type Pin } from '@core/compare/pinned'
import { MAX_NAME } from '@core/session/named'
import { call, listen } from '../lib/api'
import { useNotices } from './notices'

/** Address of the comparison of a checked session with its baseline. */
export const comparisonOf = ({ baselineId, sessionId }: Check): string => `/compare?ids=${encodeURIComponent(baselineId)},${encodeURIComponent(sessionId)}`

/** Pinned baselines of projects, and what later sessions came to against them. */
export const useBaselines = defineStore('baselines', () => {
  const notices = useNotices()
  const state = ref<Baselines>(NO_BASELINES)
  const pins = computed<readonly Pin[]>(() => state.value.pins)
  const pinsById = computed(() => new Map(pins.value.map((pin) => [pin.sessionId, pin])))
  const checksById = computed(() => new Map(state.value.checks.map((check) => [check.sessionId, check])))

  const set = async (next: readonly Pin[]) => void (state.value = await call('baselines:set', { pins: next.map((pin) => ({ ...pin })) }))

  /** Changes the pins, tells it and offers Undo; says why where that cannot be. */
  async function change(message: string, make: (before: readonly Pin[]) => Pin[]): Promise<void> {
    const before = pins.value
    try {
      await set(make(before))
      notices.show({ level: 'info', message, undo: () => set(before) })
    } catch (error) {
      if (error instanceof RangeError) notices.show({ level: 'error', message: error.message })
      else notices.fail(error, 'change the baselines')
    }
  }

  /** Pins a session as the baseline of the project of its name. */
  function pin({ id, name }: { id: string; name: string }): Promise<void> {
    const project = name.trim().slice(0, MAX_NAME).trim() || 'Baseline'
    return change(`Pinned as the baseline of “${project}”. Sessions of the same cases on the same hardware are compared with it when they finish.`, (before) => withPin(before, { name: project, sessionId: id }))
  }
  const unpin = (project: string) => change(`Unpinned the baseline of “${project}”.`, (before) => before.filter(({ name }) => name !== project))
  const rename = (from: string, to: string) => change(`Renamed “${from}” to “${to.trim()}”.`, (before) => renamePin(before, from, to))
  function toggle(session: { id: string; name: string }): Promise<void> {
    const pinned = pinsById.value.get(session.id)
    return pinned ? unpin(pinned.name) : pin(session)
  }

  async function start(): Promise<void> {
    listen('baselines:changed', (next) => (state.value = next))
    listen('baselines:checked', (check) => notices.show({ level: isAlert(check) ? 'warning' : 'info', message: `${checkText(check)}.`, ...(check.slowest.length ? { detail: check.slowest.map(slowestText).join('\n') } : {}), open: comparisonOf(check) }))
    try {
      state.value = await call('baselines:get', undefined)
    } catch (error) {
      notices.fail(error, 'read the baselines')
    }
  }

  return { pins, pinOf: (id: string) => pinsById.value.get(id), checkOf: (id: string) => checksById.value.get(id), pin, unpin, rename, toggle, start }
})
