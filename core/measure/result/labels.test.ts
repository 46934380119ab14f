import { describe, expect, test } from 'vitest'
import type { DeviceState } from '../../backend'
import { bestProbe, chooseSamples, cleanSamples, describeLabels, labelledMask, labelSamples, type Conditions } from './labels'

const batches = (...states: DeviceState[]) => states.map((state, i) => ({ firstSample: i * 10, state }))
const repeated = (value: number, count: number) => new Array<number>(count).fill(value)

describe('labels', () => {
  test('of samples taken in peace: none', () => {
    const calm = { count: 40, states: batches({ smClockMhz: 1980, throttle: [], foreignProcesses: 0 }, { smClockMhz: 1975 }), clocksMhz: repeated(1980, 40), probesNs: repeated(500, 40) }
    for (const conditions of [calm, { count: 40 }, { count: 0, clocksMhz: [], probesNs: [] }] satisfies Conditions[]) expect(labelSamples(conditions)).toEqual([])
  })

  test('a throttled batch labels its samples, up to the next batch; neighbours with the same reason are one', () => {
    const states = batches({}, { throttle: ['power limit'] }, { throttle: ['power limit'] }, { throttle: ['power limit', 'thermal'] }, {})
    expect(labelSamples({ count: 43, states })).toEqual([
      { kind: 'throttled', reason: 'power limit', first: 10, count: 20 },
      { kind: 'throttled', reason: 'power limit, thermal', first: 30, count: 10 },
    ])
  })

  test('the last batch reaches to the last sample', () => {
    expect(labelSamples({ count: 27, states: batches({}, {}, { foreignProcesses: 2 }) })).toEqual([{ kind: 'disturbed', reason: '2 other processes on the device', first: 20, count: 7 }])
  })

  test('a clock below 75 % of the best of the case is slow; one at 76 % is not, and an unread one is not', () => {
    const clocksMhz = [...repeated(2000, 30), 1499, 1200, 1520, 0, ...repeated(2000, 6)]
    expect(labelSamples({ count: 40, clocksMhz })).toEqual([{ kind: 'slow-clock', reason: '1200 of 2000 MHz', first: 30, count: 2 }])
  })

  test('without clocks of samples those of the batches are used', () => {
    expect(labelSamples({ count: 30, states: batches({ smClockMhz: 1980 }, { smClockMhz: 1200 }, { smClockMhz: 1980 }) })).toEqual([{ kind: 'slow-clock', reason: '1200 of 1980 MHz', first: 10, count: 10 }])
  })

  test('one freak reading of clock or probe condemns no other sample', () => {
    expect(labelSamples({ count: 100, clocksMhz: [9000, ...repeated(1980, 99)] })).toEqual([])
    expect(labelSamples({ count: 100, probesNs: [1, ...repeated(500, 99)] })).toEqual([])
  })

  test('a probe beyond 4/3 of its best time is a slowed host', () => {
    expect(labelSamples({ count: 22, probesNs: [...repeated(300, 20), 390, 800] })).toEqual([{ kind: 'host-slowed', reason: 'CPU speed probe took 2.7x its best time', first: 21, count: 1 }])
  })

  test('the usual slowness is told, and the worst of one sample beside it, not for all', () => {
    const probesNs = [...repeated(450, 30), 1_800_000, ...repeated(450, 10)]
    const [label] = labelSamples({ count: 41, probesNs, states: batches({ probeBestNs: 300 }) })
    expect(label).toEqual({ kind: 'host-slowed', reason: 'CPU speed probe took 1.5x its best time, at most 6000.0x', first: 0, count: 41 })
  })

  test('a case wholly slower than the process has been before is a slowed host too', () => {
    const probesNs = repeated(450, 30)
    expect(labelSamples({ count: 30, probesNs, states: batches({}, { probeBestNs: 440 }, {}) })).toEqual([])
    expect(labelSamples({ count: 30, probesNs, states: batches({}, { probeBestNs: 310 }, { probeBestNs: 300 }) })).toEqual([{ kind: 'host-slowed', reason: 'CPU speed probe took 1.5x its best time', first: 0, count: 30 }])
    expect(labelSamples({ count: 30, states: batches({ probeBestNs: 300 }) })).toEqual([])
  })

  test('conditions that flicker with every sample keep few labels that still cover every bad sample', () => {
    const probesNs = Array.from({ length: 20_000 }, (_, i) => (i % 3 === 0 && i > 5000 ? 900 : 300))
    const labels = labelSamples({ count: probesNs.length, probesNs })
    expect(labels.length).toBeLessThanOrEqual(256)
    const mask = labelledMask(labels, probesNs.length)
    expect(probesNs.every((ns, i) => ns < 500 || mask[i] === 1)).toBe(true)
    expect(mask.subarray(0, 5000).every((one) => one === 0)).toBe(true)
  })
})

test('the best probe is that of the case or a better one of the process; without probes there is none', () => {
  expect(bestProbe([0, ...repeated(300, 40)], [])).toBe(300)
  expect(bestProbe(repeated(300, 40), [{}, { probeBestNs: 280 }, { probeBestNs: 290 }])).toBe(280)
  expect(bestProbe(repeated(300, 40), [{ probeBestNs: 320 }])).toBe(300)
  for (const none of [undefined, [], [0, 0]]) expect(bestProbe(none, [{ probeBestNs: 280 }])).toBeUndefined()
})

describe('the samples that count', () => {
  const label = (first: number, count: number) => ({ kind: 'throttled' as const, reason: 'power limit', first, count })
  const samplesNs = Array.from({ length: 40 }, (_, i) => i)

  test('are the clean ones while at least half and five are clean', () => {
    expect(cleanSamples({ samplesNs, labels: [label(0, 20)] })).toEqual(samplesNs.slice(20))
    expect(cleanSamples({ samplesNs, labels: [label(0, 3), label(2, 5)] })).toEqual(samplesNs.slice(7))
  })
  test('are all where fewer are clean', () => {
    expect(cleanSamples({ samplesNs, labels: [label(0, 21)] })).toEqual(samplesNs)
    expect(cleanSamples({ samplesNs: [1, 2, 3, 4, 5, 6], labels: [label(0, 2)] })).toHaveLength(6)
    expect(cleanSamples({ samplesNs, labels: [label(0, 40)] })).toEqual(samplesNs)
    expect(cleanSamples({ samplesNs })).toEqual(samplesNs)
    expect(cleanSamples({ samplesNs: [], labels: [] })).toEqual([])
  })
  test('are marked one by one', () => {
    expect(chooseSamples([label(1, 2)], 8)).toEqual({ used: Uint8Array.from([1, 0, 0, 1, 1, 1, 1, 1]), clean: 6, setAside: true })
    expect(chooseSamples([label(0, 8)], 8)).toEqual({ used: new Uint8Array(8).fill(1), clean: 0, setAside: false })
  })
})

test('labels are told in one line by kind; samples with two labels of a kind count once', () => {
  const labels = [
    { kind: 'throttled' as const, reason: 'power limit', first: 0, count: 10 },
    { kind: 'slow-clock' as const, reason: '1200 of 1980 MHz', first: 2, count: 3 },
    { kind: 'slow-clock' as const, reason: '1300 of 1980 MHz', first: 4, count: 2 },
  ]
  expect(describeLabels(labels, 40)).toBe('throttled (power limit) in 10 of 40, clock low in 4 of 40')
})
