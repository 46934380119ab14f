import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import type { RunState } from '@core/ipc'
import type { CeilingScope } from '@core/roofline/ceilings'
import type { SweepSpec } from '@core/session/sweep-spec'
import { call, listen } from '../lib/api'
import { useNotices } from './notices'
import { NO_ROWS, type ResultRows, type RowSource } from './rows/result-rows'
import { loadRows, rowsOf } from './rows/session-rows'

const IDLE: RunState = { phase: 'idle', done: 0, total: 0, failures: 0 }

/** The run that is going on, or the last one: its progress and its rows as they arrive. */
export const useRun = defineStore('run', () => {
  const notices = useNotices()
  const state = ref<RunState>(IDLE)
  const rows = shallowRef<RowSource>(NO_ROWS)
  /** The session whose rows are shown in the run view. */
  const sessionId = ref<string>()
  const ended = ref<{ sessionId: string; state: 'done' | 'stopped'; failures: number; outOfMemory?: number | undefined; rows: number }>()
  /** The session of the last sweep that ended, until a session is looked at: what the session view opens with. */
  const unseen = ref<string>()
  let sweep: string | undefined
  const busy = computed(() => state.value.phase !== 'idle')
  const paused = computed(() => state.value.phase === 'paused')

  function follow(id: string): void {
    if (sessionId.value === id) return
    sessionId.value = id
    rows.value = rowsOf(id)
  }

  function receive(next: RunState): void {
    state.value = next
    document.documentElement.toggleAttribute('data-measuring', next.phase === 'running' || next.phase === 'starting')
    if (next.sessionId && next.phase !== 'idle') follow(next.sessionId)
  }

  async function begin(request: () => Promise<{ sessionId: string }>, doing: string): Promise<string | undefined> {
    try {
      ended.value = undefined
      const { sessionId: id } = await request()
      follow(id)
      return id
    } catch (error) {
      notices.fail(error, doing)
      return undefined
    }
  }

  const startSweep = async (spec: SweepSpec, name?: string) => (sweep = await begin(() => call('run:start', { spec: JSON.parse(JSON.stringify(spec)) as SweepSpec, name }), 'start the run'))
  const measureCeilings = (devices: string[] = [], scope: CeilingScope = {}) => begin(() => call('ceilings:measure', { devices, ...(scope.all ? { all: true } : {}), ...(scope.choices ? { choices: scope.choices.map(({ impl, threads }) => ({ impl, threads })) } : {}) }), 'measure this machine')
  const selfCheck = (devices: string[] = []) => begin(() => call('self-check:run', { devices }), 'measure the noise floor')
  async function resumeSession(id: string): Promise<string | undefined> {
    const resumed = await begin(() => call('run:resume-session', { sessionId: id }), 'resume the session')
    if (resumed) await loadRows(resumed)
    return (sweep = resumed)
  }

  async function steer(channel: 'run:pause' | 'run:resume' | 'run:stop'): Promise<void> {
    try {
      receive(await call(channel, undefined))
    } catch (error) {
      notices.fail(error, channel === 'run:stop' ? 'stop the run' : 'pause or resume the run')
    }
  }

  async function start(): Promise<void> {
    listen('run:state', receive)
    listen('run:results', ({ sessionId: id, block }) => {
      const held: ResultRows = rowsOf(id)
      if (!held.append(block)) void loadRows(id)
    })
    listen('run:ended', (end) => {
      ended.value = { ...end, rows: rowsOf(end.sessionId).length }
      if (end.sessionId === sweep) unseen.value = sweep
    })
    receive(await call('run:state', undefined))
    if (sessionId.value) await loadRows(sessionId.value)
  }

  /** Resolves with how the run that is going on ends, once another can be started. */
  const finished = () =>
    new Promise<'done' | 'stopped'>((resolve) => {
      const off = watch([ended, busy], ([end, going]) => {
        if (!end || going) return
        off()
        resolve(end.state)
      })
    })

  return {
    state, rows, sessionId, ended, unseen, busy, paused, start, startSweep, measureCeilings, selfCheck, resumeSession, finished,
    pauseOrResume: () => steer(paused.value ? 'run:resume' : 'run:pause'),
    stop: () => steer('run:stop'),
  }
})
