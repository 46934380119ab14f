import { beforeEach, expect, it, vi } from 'vitest'
import { Emitter } from '../runner/events'
import type { RunnerEvents } from '../runner/types'
import { giveRunFeedback } from './run-feedback'

let runner: Emitter<RunnerEvents>
let focused: boolean
const progress = vi.fn()
const notify = vi.fn()
const open = vi.fn()
beforeEach(() => {
  vi.clearAllMocks()
  runner = new Emitter()
  focused = false
  giveRunFeedback({ runner, summary: () => ({ name: 'Nightly', results: 1284, failures: 2 }), setProgress: progress, isFocused: () => focused, notify, open })
})

it('shows the progress of a run on the taskbar, paused or not, and takes it away at the end', () => {
  runner.emit('state', { phase: 'running', done: 3, total: 12, failures: 0 })
  runner.emit('state', { phase: 'paused', done: 6, total: 12, failures: 0 })
  runner.emit('state', { phase: 'starting', done: 0, total: 0, failures: 0 })
  runner.emit('state', { phase: 'idle', done: 12, total: 12, failures: 0 })
  expect(progress.mock.calls).toEqual([[0.25, false], [0.5, true], [undefined, false], [undefined, false]])
})

it('notifies of the end while no window has the focus, and opens the session on a click', () => {
  runner.emit('ended', { sessionId: 'a', state: 'done', failures: 2 })
  expect(notify).toHaveBeenCalledWith({ title: 'Run finished', body: 'Nightly: 1,284 results, 2 without a valid result.', click: expect.any(Function) })
  ;(notify.mock.calls[0]![0] as { click(): void }).click()
  expect(open).toHaveBeenCalledWith('a')
})

it('says that a run was stopped, or that its results could not be stored', () => {
  runner.emit('ended', { sessionId: 'a', state: 'stopped', failures: 0 })
  runner.emit('ended', { sessionId: 'a', state: 'done', failures: 0, problem: 'disk full', unsaved: 3 })
  expect(notify.mock.calls.map(([notification]) => (notification as { title: string }).title)).toEqual(['Run stopped', 'Results could not be stored'])
})

it('says nothing to a user who is looking', () => {
  focused = true
  runner.emit('ended', { sessionId: 'a', state: 'done', failures: 0 })
  expect(notify).not.toHaveBeenCalled()
})
