import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { BaselineCheck } from '@core/compare/pinned'
import { setNumberLocale } from '@core/units'
import { Emitter } from '../runner/events'
import type { RunnerEvents } from '../runner/types'
import { alertOfBaselines, giveRunFeedback } from './run-feedback'

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
  expect(notify).toHaveBeenCalledWith({ title: 'Run finished', body: 'Nightly: 1,284 results, 2 of them failed.', click: expect.any(Function) })
  ;(notify.mock.calls[0]![0] as { click(): void }).click()
  expect(open).toHaveBeenCalledWith({ view: 'session', id: 'a' })
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

describe('a finished session with a pinned baseline', () => {
  const check: BaselineCheck = { sessionId: 'new', project: 'nightly', baselineId: 'old', cases: 1284, slower: 3, faster: 1, unclear: 0, wrong: 0, slowest: [1.5, 1.25, 1.1].map((times) => ({ what: `add ${times}`, speedup: 1 / times })) }
  const told = (changed: Partial<BaselineCheck>) => {
    alertOfBaselines({ isFocused: () => focused, notify, open })({ ...check, ...changed })
    return notify.mock.calls.at(-1)?.[0] as { title: string; body: string; click(): void } | undefined
  }

  it('is an alert that names what is slower, and a click opens the comparison', () => {
    const alert = told({})!
    expect([alert.title, alert.body.split('\n')]).toEqual(['Slower than the baseline', ['3 cases slower, 1 faster than the baseline of “nightly” (1,284 compared).', 'add 1.5: 1.50x slower', 'add 1.25: 1.25x slower']])
    alert.click()
    expect(open).toHaveBeenCalledWith({ view: 'compare', ids: ['old', 'new'] })
  })

  it('says what kind of change it is, in the numbers of the system', () => {
    onTestFinished(() => setNumberLocale('en'))
    setNumberLocale('de-DE')
    expect(told({})!.body).toContain('(1.284 compared).\nadd 1.5: 1,50x slower')
    expect([told({ slower: 0 }), told({ slower: 0, faster: 0, wrong: 2 })].map((alert) => alert!.title)).toEqual(['Faster than the baseline', 'Failed verification'])
  })

  it('is none where nothing changed, or to a user who is looking', () => {
    expect(told({ slower: 0, faster: 0, slowest: [] })).toBeUndefined()
    focused = true
    expect(told({})).toBeUndefined()
  })
})
