import { mkdtempSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { BenchmarkCase } from '@core/case'
import { UnknownValueError } from '@core/compare'
import type { NoiseFloor } from '@core/session/types'
import { NotFoundError, openHistory, type History } from '.'
import { compareStored } from './compare'
import { testCase, testEnvironment, testResult, testSettings } from './testing/sessions'

let folder: string
let history: History
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-compare-'))
  history = openHistory(join(folder, 'history.db')).history
})
afterEach(() => {
  history.close()
  rmSync(folder, { recursive: true })
})

const scalar: BenchmarkCase = { ...testCase(1), impl: 'scalar' }
const avx2 = testCase(1)
/** A result whose samples are `factor` times those of the others. */
function add(session: string, id: string, c: BenchmarkCase, factor: number, block?: { pair: string; quad: number; place: number }): void {
  const result = testResult(id, c)
  const samplesNs = result.samplesNs.map((ns) => ns * factor)
  history.addResult(session, { ...result, samplesNs, summary: { ...result.summary!, medianNs: result.summary!.medianNs * factor }, ...(block ? { block } : {}) })
}
const create = (about?: { kind: 'interleaved'; session: string }, environment = testEnvironment) =>
  history.createSession({ name: 'S', environment, settings: testSettings, cases: [scalar, avx2], ...(about ? { about } : {}) }).id
const floor: NoiseFloor = { backend: 'cpu', device: 'cpu', deviceName: 'Test CPU 9000', measuredAt: '2026-05-01T00:00:00Z', pairs: 24, falseVerdicts: 0, ratioP50: 0.001, ratioP95: 0.004, sessionId: 's' }

test('an interleaved measurement replaces the speedup of its pair in the session it adds to', () => {
  const id = create()
  add(id, 'a', scalar, 1)
  add(id, 'b', avx2, 1.05)
  const cell = () => compareStored(history, { sessionId: id, axis: 'impl' }).rows[0]!.cells[1]!
  expect(cell()).toMatchObject({ verdict: 'slower', speedup: expect.closeTo(1 / 1.05, 3) as number })
  const more = create({ kind: 'interleaved', session: id })
  for (let i = 0; i < 32; i++) {
    const place = i % 4
    const side = place === 1 || place === 2
    add(more, `block${i}`, side ? avx2 : scalar, side ? 0.9 : 1, { pair: 'p', quad: Math.floor(i / 4), place })
  }
  expect(cell()).toMatchObject({ verdict: 'faster', quads: 8, speedup: expect.closeTo(1 / 0.9, 2) as number })
  // Blocks that another machine added do not count.
  const elsewhere = create({ kind: 'interleaved', session: id }, { ...testEnvironment, host: 'elsewhere' })
  for (let i = 0; i < 32; i++) add(elsewhere, `other${i}`, i % 4 === 1 || i % 4 === 2 ? avx2 : scalar, i % 4 === 1 || i % 4 === 2 ? 3 : 1, { pair: 'p', quad: Math.floor(i / 4), place: i % 4 })
  expect(cell()).toMatchObject({ verdict: 'faster', quads: 8 })
  // Between sessions blocks are no results of their case.
  expect(compareStored(history, { sessionIds: [id, more] }).rows).toEqual([])
})

test('the threshold asked for is kept with the verdicts', () => {
  const [one, two] = [create(), create()]
  add(one, 'a', scalar, 1)
  add(two, 'b', scalar, 1.05)
  const verdict = (threshold?: number) => compareStored(history, { sessionIds: [one, two] }, { threshold })
  expect(verdict().rows[0]!.cells[1]!.verdict).toBe('slower')
  expect(verdict(0.1)).toMatchObject({ threshold: 0.1, rows: [{ cells: [{}, { verdict: 'same' }] }] })
})

test('a noise floor found later holds for sessions of the same machine, and no others', () => {
  history.putNoiseFloor(floor)
  const floors = (environment: typeof testEnvironment) => {
    const id = create(undefined, environment)
    add(id, `${id}a`, scalar, 1)
    add(id, `${id}b`, avx2, 1)
    return compareStored(history, { sessionId: id, axis: 'impl' }).noiseFloors
  }
  expect(floors({ ...testEnvironment, host: hostname() })).toEqual([floor])
  expect(floors({ ...testEnvironment, host: `not-${hostname()}` })).toEqual([])
  expect(floors({ ...testEnvironment, host: hostname(), devices: [{ ...testEnvironment.devices[0]!, driver: '2' }] })).toEqual([])
  const published = { ...floor, measuredAt: '2026-06-01T00:00:00Z' }
  expect(floors({ ...testEnvironment, host: 'elsewhere', noiseFloors: [published] })).toEqual([published])
})

test('what is not there is told by name', () => {
  expect(() => compareStored(history, { sessionIds: ['gone', 'too'] })).toThrow(NotFoundError)
  const id = create()
  add(id, 'a', scalar, 1)
  expect(() => compareStored(history, { sessionId: id, axis: 'impl', baseline: 'cuda kernel' })).toThrow(UnknownValueError)
})
