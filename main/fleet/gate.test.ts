import { expect, test } from 'vitest'
import { Gate } from './gate'

test('GPUs measure beside each other, the processor alone, in the order they came', async () => {
  const gate = new Gate()
  const begun: string[] = []
  const enter = (name: string, alone: boolean) => gate.enter(alone).then((leave) => (begun.push(name), leave))
  const [first, second] = [await enter('gpu 0', false), await enter('gpu 1', false)]
  const cpu = enter('cpu', true)
  const late = enter('gpu 0 again', false)
  first()
  first()
  await Promise.resolve()
  // The one that came after the processor does not overtake it.
  expect(begun).toEqual(['gpu 0', 'gpu 1'])
  second()
  const leave = await cpu
  expect(begun).toEqual(['gpu 0', 'gpu 1', 'cpu'])
  leave()
  await late
  expect(begun.at(-1)).toBe('gpu 0 again')
})
