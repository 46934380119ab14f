import { describe, expect, it } from 'vitest'
import { testCase } from '../testing'
import { packCaseHistory, placeChanges, placeOf, unpackCaseHistory, type CaseHistory, type Machine } from './case-history'

const machine: Machine = {
  host: 'bench', os: 'Linux', kernel: '6.1', cpu: 'Xeon', appVersion: '1.0.0',
  devices: [{ backend: 'cuda', id: 'cuda:0', name: 'H200', driver: '560' }, { backend: 'cpu', id: 'cpu', name: 'Xeon', driver: null }],
}
const place = (change: Partial<Machine> = {}) => ({ place: placeOf({ ...machine, ...change }, 'cuda', 'cuda:0') })

describe('the place of a case', () => {
  it('is what bears on its device, and leaves out what is not known', () => {
    expect(placeOf(machine, 'cuda', 'cuda:0')).toContainEqual(['Driver', '560'])
    expect(placeOf(machine, 'cpu', 'cpu').map(([title]) => title)).toEqual(['Machine', 'Processor', 'Operating system', 'Kernel', 'Opscope'])
    expect(placeOf(machine, 'cuda', 'cuda:1').map(([title]) => title)).not.toContain('Device')
  })

  it('changes are told where they happen, fact by fact, for its own device only', () => {
    const newer = { devices: [{ ...machine.devices[0]!, driver: '570' }, machine.devices[1]!] }
    const otherCpuDriver = { devices: [machine.devices[0]!, { ...machine.devices[1]!, driver: '9' }] }
    expect(placeChanges([place(), place(otherCpuDriver), place(newer), place({ ...newer, kernel: '6.8', host: 'other' })])).toEqual([
      { at: 2, facts: ['Driver: 560 → 570'] },
      { at: 3, facts: ['Machine: bench → other', 'Kernel: 6.1 → 6.8'] },
    ])
  })

  it('a fact that one side does not know is no change', () => {
    expect(placeChanges([place({ devices: [] }), place()])).toEqual([])
    expect(placeChanges([])).toEqual([])
  })
})

it('a history comes through its packing as it was, with one place for all sessions that share it', () => {
  const [here, there] = [place(), place({ host: 'other' })]
  const point = (i: number, where: typeof here) => ({ sessionId: `s${i}`, name: `Night ${i}`, createdAt: '2026-03-01T00:00:00Z', resultId: `r${i}`, medianNs: 1 / 3, results: 1, ...where })
  const history: CaseHistory = { case: testCase(), points: [point(1, here), { ...point(2, there), ciLowNs: 0.1, ciHighNs: 0.7, grade: 'B' }, point(3, here)], failed: 2 }
  const unpacked = unpackCaseHistory(packCaseHistory(history))
  expect(unpacked).toEqual(history)
  expect(unpacked.points[2]!.place).toBe(unpacked.points[0]!.place)
  expect(unpackCaseHistory(packCaseHistory({ points: [], failed: 0 }))).toEqual({ points: [], failed: 0 })
})
