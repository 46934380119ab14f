import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Coalescer, Emitter } from './events'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('a burst is acted on at once and then once per period, the last request included', () => {
  const times: number[] = []
  const begin = performance.now()
  const coalescer = new Coalescer(100, () => times.push(performance.now() - begin))
  for (let i = 0; i < 25; i++) {
    coalescer.request()
    vi.advanceTimersByTime(10)
  }
  vi.advanceTimersByTime(1000)
  // The last request comes at 240.
  expect(times).toEqual([0, 100, 200, 300])
})

test('a flush leaves nothing waiting', () => {
  const act = vi.fn()
  const coalescer = new Coalescer(100, act)
  coalescer.request()
  coalescer.request()
  coalescer.flush()
  vi.advanceTimersByTime(500)
  expect(act).toHaveBeenCalledTimes(2)
})

test('listeners get their event until taken away, whatever another listener throws', () => {
  const errors = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const emitter = new Emitter<{ count: number; word: string }>()
  const heard: number[] = []
  emitter.on('count', () => {
    throw new Error('mine')
  })
  const off = emitter.on('count', (n) => heard.push(n))
  emitter.emit('count', 1)
  emitter.emit('word', 'x')
  off()
  emitter.emit('count', 2)
  expect(heard).toEqual([1])
  expect(errors).toHaveBeenCalledTimes(2)
  errors.mockRestore()
})
