import { describe, expect, it } from 'vitest'
import { deviceFacts, labelFacts } from './facts'

const throttled = (first: number, count: number) => ({ kind: 'throttled' as const, reason: 'power limit', first, count })
const samplesNs = Array.from({ length: 40 }, () => 1)

describe('labelled samples', () => {
  it('are counted by kind with their reasons, and it is said what counts', () => {
    const labels = [throttled(0, 3), { kind: 'slow-clock' as const, reason: '1200 of 1980 MHz', first: 2, count: 2 }]
    expect(labelFacts({ labels, samplesNs })).toEqual([
      { name: 'Throttled', value: '3 of 40: power limit', trouble: false }, { name: 'Clock low', value: '2 of 40: 1200 of 1980 MHz', trouble: false },
      { name: 'Clean', value: '36 of 40' }, { name: 'Counted', value: 'the clean ones' },
    ])
  })
  it('are trouble where too few others are left', () => {
    expect(labelFacts({ labels: [throttled(0, 30)], samplesNs })).toEqual([{ name: 'Throttled', value: '30 of 40: power limit', trouble: true }, { name: 'Clean', value: '10 of 40' }, { name: 'Counted', value: 'all, because too few are clean' }])
  })
  it('need no section where all are clean', () => expect(labelFacts({ samplesNs })).toEqual([]))
})

it('the device while sampling: ranges of readings, sums of interruptions, unread clocks left out', () => {
  const facts = deviceFacts({ deviceStates: [{ firstSample: 0, state: { stealMs: 3, involuntarySwitches: 2 } }, { firstSample: 5, state: { stealMs: 4.5 } }], clocksMhz: [1980, 0, 1200], probesNs: [500, 510] })
  expect(facts).toEqual([
    { name: 'Clock of samples', value: '1200 to 1980 MHz' }, { name: 'Fixed work took', value: '500 to 510 ns' },
    { name: 'Interrupted', value: '2 times by other work' }, { name: 'Hypervisor took', value: '7.5 ms' },
  ])
})
