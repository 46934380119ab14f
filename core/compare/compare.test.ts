import { describe, expect, test } from 'vitest'
import type { Device } from '../backend'
import { caseId, type BenchmarkCase } from '../case'
import type { Row } from '../session/rows'
import type { Environment } from '../session/types'
import { createRandom, normal } from '../stats/random'
import { comparisonSchema, compareSessions, verdictOf, type ComparedSession } from '.'

const aCase = (n: number): BenchmarkCase => ({ op: 'add', params: { n }, dtype: 'f32', backend: 'cpu', impl: 'avx2', device: 'cpu', mode: 'hot' })
const device: Device = { backend: 'cpu', id: 'cpu', name: 'EPYC', available: { ok: true }, impls: [], modes: ['hot'], threads: [], memoryBytes: 1, software: false, facts: [{ name: 'Driver', value: '1' }, { name: 'Only here', value: 'x' }], warnings: [] }
const environment: Environment = { appVersion: '1', host: 'h', os: 'Linux', kernel: '6', cpu: 'EPYC', logicalCpus: 2, memoryBytes: 2 ** 33, node: '24', devices: [device] }

const samples = new Map<string, number[]>()
const random = createRandom(1)
/** A measured row with 100 samples around `centre`, 1 % standard deviation. */
function measured(id: string, n: number, centre: number, sigma = 0.01): Row {
  const taken = Array.from({ length: 101 }, () => centre * (1 + sigma * normal(random)))
  samples.set(id, taken)
  return { id, case: aCase(n), status: 'ok', medianNs: [...taken].sort((a, b) => a - b)[50]! }
}
const session = (id: string, rows: Row[], env = environment): ComparedSession => ({ id, name: id.toUpperCase(), createdAt: '2026-01-01T00:00:00Z', environment: env, rows })
const compare = (...sessions: ComparedSession[]) => comparisonSchema.parse(compareSessions(sessions, (id) => ({ id, samplesNs: samples.get(id) ?? [] })))

describe('verdict', () => {
  test.each([
    [{ low: 0.5, high: 0.98 }, 'faster'], [{ low: 1.02, high: 1.5 }, 'slower'], [{ low: 0.995, high: 1.005 }, 'same'], [{ low: 0.98, high: 0.995 }, 'ambiguous'],
    [{ low: 0.9, high: 1.1 }, 'ambiguous'], [{ low: 1.005, high: 1.5 }, 'ambiguous'], [undefined, 'ambiguous'],
  ] as const)('of %o is %s', (interval, verdict) => expect(verdictOf(interval)).toBe(verdict))
})

test('cases meet by identity and get ratio, interval and verdict from the raw samples', () => {
  const a = session('a', [measured('a1', 1, 1000), measured('a2', 2, 1000), measured('a3', 3, 1000), measured('a4', 4, 1000, 0.3)])
  const b = session('b', [measured('b3', 3, 1000), measured('b2', 2, 1500), measured('b1', 1, 500), measured('b4', 4, 1000, 0.3)])
  const { rows, overall, unmatched } = compare(a, b)
  expect(rows.map((row) => [row.caseId, row.cells[1]!.verdict])).toEqual([[caseId(aCase(1)), 'faster'], [caseId(aCase(2)), 'slower'], [caseId(aCase(3)), 'same'], [caseId(aCase(4)), 'ambiguous']])
  const cell = rows[0]!.cells[1]!
  expect(cell.speedup).toBeCloseTo(2, 0)
  expect(cell.speedupLow!).toBeLessThan(cell.speedup!)
  expect(cell.speedupHigh!).toBeGreaterThan(cell.speedup!)
  expect(rows[0]!.cells[0]).toEqual({ resultId: 'a1', medianNs: a.rows[Symbol.iterator]().next().value.medianNs })
  const product = rows.map((row) => row.cells[1]!.speedup!).reduce((x, y) => x * y, 1)
  expect(overall).toEqual([null, { speedup: expect.closeTo(product ** (1 / 4), 12), cases: 4 }])
  expect(unmatched).toEqual([])
})

test('what cannot be compared is listed with the reason and never ranked', () => {
  const wrong: Row = { ...measured('b2', 2, 10), status: 'wrong', message: 'The relative error is 1.' }
  const failed: Row = { id: 'a3', case: aCase(3), status: 'failed', message: 'Out of memory.' }
  const { rows, unmatched, overall } = compare(session('a', [measured('a1', 1, 1), measured('a2', 2, 1), failed]), session('b', [wrong, measured('b3', 3, 1), measured('b4', 4, 1)]))
  expect(rows).toEqual([])
  expect(overall).toEqual([null, null])
  expect(unmatched.map((u) => [u.sessionId, u.case.params['n'], u.reason])).toEqual([
    ['a', 1, 'No other session has this case.'],
    ['b', 2, 'Left out: its result is “wrong”: The relative error is 1.'],
    ['a', 3, 'Left out: its result is “failed”: Out of memory.'],
    ['b', 4, 'The baseline does not have this case.'],
  ])
})

test('differences of the environment are told where a speedup may come from them', () => {
  const other = { ...environment, kernel: '7' }
  expect(compare(session('a', [measured('a1', 1, 1)]), session('b', [measured('b1', 1, 1)], other)).environmentDifferences).toEqual(['Kernel: 6 in “A”, 7 in “B”.'])
  expect(compare(session('a', [measured('a1', 1, 1)]), session('b', [measured('b2', 2, 1)], other)).environmentDifferences).toEqual([])
})

test('a third session may lack a case; a repeated case counts by its last right result', () => {
  const again: Row = { id: 'x', case: aCase(1), status: 'crashed', message: 'gone' }
  const { rows } = compare(session('a', [measured('a1', 1, 100), measured('a2', 2, 100)]), session('b', [measured('b1', 1, 100), measured('b1b', 1, 300), again]), session('c', [measured('c2', 2, 50)]))
  expect(rows.map((row) => row.cells.map((cell) => cell?.resultId ?? null))).toEqual([['a1', 'b1b', null], ['a2', null, 'c2']])
})

test('a result without samples keeps its ratio and is ambiguous', () => {
  const { rows } = compare(session('a', [measured('a1', 1, 100)]), session('b', [{ id: 'none', case: aCase(1), status: 'ok', medianNs: 1 }]))
  const cell = rows[0]!.cells[1]!
  expect(cell).toEqual({ resultId: 'none', medianNs: 1, speedup: expect.closeTo(100, 0), speedupGrade: 'C', speedupGradeReason: expect.stringContaining('No CI'), verdict: 'ambiguous' })
})

test('environments are compared in sentences, devices only where they were used', () => {
  const other: Environment = {
    ...environment, kernel: '7', chromium: '150',
    devices: [{ ...device, facts: [{ name: 'Driver', value: '2' }, { name: 'Temperature', value: '60 °C' }] }, { ...device, backend: 'cuda', id: 'cuda:0', name: 'H200' }],
  }
  const base = { ...environment, devices: [{ ...device, facts: [...device.facts, { name: 'Temperature', value: '30 °C' }] }, { ...device, backend: 'cuda', id: 'cuda:0', name: 'H100' }] }
  const { environmentDifferences } = compare(session('a', [measured('a1', 1, 1)], base), session('b', [measured('b1', 1, 1)], other))
  expect(environmentDifferences).toEqual(['Kernel: 6 in “A”, 7 in “B”.', 'Driver of EPYC: 1 in “A”, 2 in “B”.'])
})
