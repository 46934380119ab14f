import { expect, test } from 'vitest'
import { PRESETS, type MeasureSettings } from '../measure/settings'
import { testCase, testDevice } from '../testing'
import { withRounds } from './noisy-host'

const rivals = [testCase({ impl: 'scalar' }), testCase({ impl: 'avx2' })]
const quick = PRESETS.quick
const floor = (ratioP95: number) => [{ backend: 'cpu', device: 'cpu', deviceName: 'Test CPU', pairs: 40, ratioP50: 0.001, ratioP95, falseVerdicts: 0, measuredAt: '2026-01-01T00:00:00Z', sessionId: 's' }]
const noise = (device: Parameters<typeof testDevice>[0], floors: ReturnType<typeof floor> | [] = [], cases = rivals, settings: MeasureSettings = quick) => withRounds(settings, cases, [testDevice(device)], floors)

test('implementations that compete on a noisy host are measured in rounds, with the reason', () => {
  expect(noise({ virtual: true })).toEqual({ settings: { ...quick, rounds: true }, noise: 'virtual machine, noise floor not measured' })
  expect(noise({ disturbances: ['CPU contention: tasks waited for 36 % of the last 10 s.'] }).noise).toBe('CPU contention')
  expect(noise({}, floor(0.031)).noise).toBe('noise floor 3.10 %')
  // Those in Python compete too.
  expect(noise({ virtual: true }, [], [rivals[0]!, testCase({ backend: 'python', device: 'python:cpu', impl: 'torch' })]).settings.rounds).toBe(true)
})

test('on a quiet host, or a virtual machine whose noise floor is low, they are measured one by one', () => {
  expect(noise({})).toEqual({ settings: quick })
  expect(noise({ virtual: true }, floor(0.006))).toEqual({ settings: quick })
})

test('a choice holds, and so does a rule that promises a number of samples; a case without a rival takes no rounds', () => {
  expect(noise({ virtual: true }, [], rivals, { ...quick, rounds: false })).toEqual({ settings: { ...quick, rounds: false } })
  expect(noise({ virtual: true }, [], rivals, { ...quick, rounds: true })).toEqual({ settings: { ...quick, rounds: true } })
  expect(noise({ virtual: true }, [], rivals, { ...quick, rule: { id: 'fixed-count', count: 9 } }).noise).toBeUndefined()
  expect(noise({ virtual: true }, [], [rivals[0]!, rivals[0]!]).noise).toBeUndefined()
  expect(noise({ virtual: true }, [], [rivals[0]!, testCase({ impl: 'avx2', params: { n: 7 } })]).noise).toBeUndefined()
  expect(noise({ virtual: true }, [], rivals.map((one) => ({ ...one, backend: 'cuda', device: 'cuda:0' }))).noise).toBeUndefined()
})
