import { expect, test } from 'vitest'
import { clock, progressLine, ProgressView } from './progress'

const running = { phase: 'running', done: 31, total: 84, failures: 0, secondsLeft: 42.4, current: 'layer_norm 16384x4096 bf16 cuda cold' } as const

test('the bar says how far, how long and what, within the width of the terminal', () => {
  expect(progressLine(running, 200)).toBe('[########................] 31/84 · 42 s left · layer_norm 16384x4096 bf16 cuda cold')
  expect(progressLine({ ...running, failures: 2, phase: 'stopping' }, 49)).toBe('[########................] 31/84 · stopping · 2 f')
  expect([59.6, 222, 4000].map(clock)).toEqual(['1:00', '3:42', '1:06:40'])
})

test('a pipe gets lines and never a control character', () => {
  const written: string[] = []
  const view = new ProgressView({ write: (text) => written.push(text), clearLine: () => written.push('<clear>') })
  view.state(running)
  view.line('add 1K f32 12 ns')
  view.clear()
  expect(written).toEqual(['add 1K f32 12 ns\n'])
})

test('on a terminal a line that stays replaces the bar', () => {
  const written: string[] = []
  const view = new ProgressView({ isTTY: true, columns: 100, write: (text) => written.push(text), clearLine: () => written.push('<clear>') })
  view.state(running)
  view.line('note')
  expect(written.join('')).toMatch(/^<clear>\[####.*<clear>note\n$/)
})
