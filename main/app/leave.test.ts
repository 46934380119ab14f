import { describe, expect, it, vi } from 'vitest'
import type { RunState } from '@core/ipc'
import { Emitter } from '../runner/events'
import type { RunnerEvents } from '../runner/types'
import { createLeave, leaveQuestion, preventSleep, type LeaveChoice } from './leave'

const state = (phase: RunState['phase'], change: Partial<RunState> = {}): RunState => ({ phase, done: 31, total: 1084, failures: 0, sessionId: 's', ...change })

function app(choice: LeaveChoice, phase: RunState['phase'] = 'running') {
  const events = new Emitter<RunnerEvents>()
  const runner = { now: state(phase), state: () => runner.now, on: events.on.bind(events) }
  const deps = { ask: vi.fn(() => Promise.resolve(choice)), hide: vi.fn(), quit: vi.fn() }
  const leave = createLeave({ runner, ...deps })
  const end = () => {
    runner.now = state('idle')
    events.emit('ended', { sessionId: 's', state: 'done', failures: 0 })
  }
  return { leave, runner, end, ...deps }
}
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('closing the app', () => {
  it('asks nothing while nothing is measured', () => {
    const { leave, ask } = app('cancel', 'idle')
    expect(leave.allowed()).toBe(true)
    expect(ask).not.toHaveBeenCalled()
  })

  it.each(['starting', 'running', 'paused', 'stopping'] as const)('asks once when the run is %s, and stays on cancel', async (phase) => {
    const { leave, ask, quit, hide } = app('cancel', phase)
    expect([leave.allowed(), leave.allowed()]).toEqual([false, false])
    await settle()
    expect(ask).toHaveBeenCalledTimes(1)
    expect(quit).not.toHaveBeenCalled()
    expect(hide).not.toHaveBeenCalled()
    expect(leave.allowed()).toBe(false)
  })

  it('quits at once where the run is to be stopped', async () => {
    const { leave, quit } = app('stop')
    expect(leave.allowed()).toBe(false)
    await settle()
    expect(quit).toHaveBeenCalledTimes(1)
    expect(leave.allowed()).toBe(true)
  })

  it('hides the window and quits after the end where the run is to go on, unless the window was wanted again', async () => {
    const first = app('continue')
    first.leave.allowed()
    await settle()
    expect(first.hide).toHaveBeenCalledTimes(1)
    expect(first.quit).not.toHaveBeenCalled()
    first.end()
    expect(first.quit).toHaveBeenCalledTimes(1)
    expect(first.leave.allowed()).toBe(true)

    const second = app('continue')
    second.leave.allowed()
    await settle()
    second.leave.stay()
    second.end()
    expect(second.quit).not.toHaveBeenCalled()
  })

  it('asks nobody when the system ends the app', () => {
    const { leave, ask } = app('cancel')
    leave.force()
    expect(leave.allowed()).toBe(true)
    expect(ask).not.toHaveBeenCalled()
  })

  it('says what is kept and what each choice does', () => {
    const { message, detail, buttons } = leaveQuestion(state('running'))
    expect(message).toBe('A run is in progress')
    expect(detail).toMatch(/^31 of 1,084 cases are measured and stored\./)
    expect(buttons.map(([choice]) => choice)).toEqual(['stop', 'continue', 'cancel'])
  })
})

it('the system does not sleep while something is measured', () => {
  const events = new Emitter<RunnerEvents>()
  const calls: string[] = []
  let next = 0
  preventSleep({ on: events.on.bind(events) }, { start: (type) => (calls.push(`start ${type}`), next++), stop: (id) => calls.push(`stop ${id}`) })
  for (const phase of ['starting', 'running', 'running', 'paused', 'running', 'stopping', 'idle', 'idle'] as const) events.emit('state', state(phase))
  expect(calls).toEqual(['start prevent-app-suspension', 'stop 0', 'start prevent-app-suspension', 'stop 1'])
})
