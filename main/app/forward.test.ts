import { describe, expect, it, vi } from 'vitest'
import type { RunState } from '@core/ipc'
import type { Runner, RunnerEvents } from '../runner/types'
import { forwardRunnerEvents } from './forward'

function scripted() {
  const listeners = new Map<string, (payload: never) => void>()
  const runner = { on: (event: string, listener: (payload: never) => void) => listeners.set(event, listener) } as unknown as Runner
  const emit = vi.fn()
  forwardRunnerEvents({ runner, emit, foundPrograms: new Set() })
  return { emit, fire: <E extends keyof RunnerEvents>(event: E, payload: RunnerEvents[E]) => listeners.get(event)?.(payload as never) }
}

const running = (sessionId: string, done: number): RunState => ({ phase: 'running', sessionId, done, total: 5, failures: 0 })

describe('forwardRunnerEvents', () => {
  it('tells the page once that a session has begun, and once that it has ended', () => {
    const { emit, fire } = scripted()
    fire('state', running('s1', 0))
    fire('state', running('s1', 1))
    fire('ended', { sessionId: 's1', state: 'done', failures: 0 })
    expect(emit.mock.calls.map(([event]) => event as string)).toEqual(['run:state', 'sessions:changed', 'run:state', 'run:ended', 'sessions:changed'])
  })

  it('passes notices and device changes on as they are', () => {
    const { emit, fire } = scripted()
    fire('notice', { level: 'warning', message: 'The measurement process ended.' })
    fire('devices', [])
    expect(emit.mock.calls).toEqual([['notice', { level: 'warning', message: 'The measurement process ended.' }], ['devices:changed', []]])
  })
})
