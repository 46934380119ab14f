// @vitest-environment happy-dom
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { installMockApi } from '../dev/mock-api'
import { useDevices } from './devices'
import { useNotices } from './notices'
import { usePicks } from './picks'
import { useRun } from './run'
import { forgetRows, rowsOf } from './rows/session-rows'
import { useSessions } from './sessions'
import { useSettings } from './settings'

beforeEach(async () => {
  vi.useFakeTimers()
  setActivePinia(createPinia())
  installMockApi({ pace: 10 })
  // Sessions of every test have the same ids.
  forgetRows('session-4')
  await useSettings().load()
  await useDevices().load()
})
afterEach(() => {
  vi.useRealTimers()
})

async function started() {
  const run = useRun()
  await run.start()
  const picks = usePicks()
  await vi.advanceTimersByTimeAsync(100)
  await run.startSweep(picks.runnable!)
  return { run, total: picks.plan.cases.length }
}

describe('a run', () => {
  it('fills its rows as cases end and says how it ended', async () => {
    const { run, total } = await started()
    expect(run.busy).toBe(true)
    await vi.advanceTimersByTimeAsync(35)
    expect(run.rows.length).toBe(3)
    expect(run.state.done).toBe(3)
    const end = run.finished()
    await vi.runAllTimersAsync()
    expect(await end).toBe('done')
    expect(run.busy).toBe(false)
    expect(run.ended).toMatchObject({ state: 'done', rows: total })
    // The session view opens with it, whatever session was looked at before.
    expect(run.unseen).toBe(run.sessionId)
  })

  it('pauses, resumes and stops', async () => {
    const { run } = await started()
    await run.pauseOrResume()
    expect(run.paused).toBe(true)
    const held = run.rows.length
    await vi.advanceTimersByTimeAsync(200)
    expect(run.rows.length).toBe(held)
    await run.pauseOrResume()
    await vi.advanceTimersByTimeAsync(50)
    expect(run.rows.length).toBeGreaterThan(held)
    await run.stop()
    expect(run.ended?.state).toBe('stopped')
  })

  it('fetches the rows before an event when it missed them', async () => {
    const { run } = await started()
    await vi.advanceTimersByTimeAsync(35)
    // As after a reload of the page: nothing is held any more, and the next event starts at row 3.
    forgetRows(run.sessionId!)
    await vi.advanceTimersByTimeAsync(10)
    expect(Array.from({ length: 4 }, (_, i) => rowsOf(run.sessionId!).id(i))).toEqual([0, 1, 2, 3].map((i) => `${run.sessionId}-${i}`))
  })
})

describe('deleting sessions', () => {
  it('takes them off the list and brings them back with undo', async () => {
    const sessions = useSessions()
    const notices = useNotices()
    await sessions.load()
    const ids = sessions.list.map((session) => session.id)
    await sessions.remove([ids[1]!])
    expect(sessions.list.map((session) => session.id)).toEqual([ids[0], ids[2]])
    expect(notices.notices.at(-1)?.message).toContain('Driver 570')
    await notices.undo()
    expect(sessions.list.map((session) => session.id)).toEqual(ids)
  })

  it('says which of two sessions of the same name was deleted', async () => {
    const sessions = useSessions()
    await sessions.load()
    sessions.list = sessions.list.map((session) => ({ ...session, name: 'add · f32' }))
    const [gone] = sessions.list
    await sessions.remove([gone!.id])
    expect(useNotices().notices.at(-1)?.message).toMatch(new RegExp(`^Deleted “add · f32” \\(.+, ${gone!.results.toLocaleString('en')} results?\\)\\.$`))
  })

  it('says in plain words why a request failed and keeps the detail', async () => {
    await useSessions().update('no-such', { name: 'x' })
    expect(useNotices().notices.at(-1)).toMatchObject({ level: 'error', message: 'There is no session no-such.', detail: 'mock' })
  })
})
