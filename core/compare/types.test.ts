import { describe, expect, test } from 'vitest'
import type { Row } from '../session/rows'
import { testCase, testGpu, testSession } from '../testing'
import { compareSessions, compareWithin, caseFilterSchema, UnknownValueError, type ComparedSession } from './index'

const samples = new Map<string, number[]>()
let serial = 0
function row(change: Parameters<typeof testCase>[0], ns: number, grade?: Row['grade']): Row {
  const id = `r${serial++}`
  samples.set(id, Array.from({ length: 40 }, (_, i) => ns * (1 + 0.0001 * (i % 7))))
  return { id, case: testCase(change), status: 'ok', medianNs: ns, ...(grade ? { grade } : {}) }
}
const session = (id: string, rows: Row[]): ComparedSession => ({ id, name: id, createdAt: '2026-01-01T00:00:00Z', environment: { ...testSession().environment, devices: [testGpu()] }, rows })
const resultOf = (id: string) => ({ id, samplesNs: samples.get(id)! })
const side = (factor: number) => [row({ op: 'add' }, 100 * factor, 'A'), row({ op: 'softmax', params: { rows: 8, cols: 8 } }, 200 * factor), row({ op: 'softmax', params: { rows: 8, cols: 8 }, backend: 'cuda', device: 'cuda:0', impl: 'kernel' }, 50 * factor)]

describe('a subset', () => {
  test('narrows what is joined, and still tells what else there is', () => {
    const [one, two] = [session('a', side(1)), session('b', [...side(1.1), row({ op: 'gelu' }, 10)])]
    const whole = compareSessions([one, two], resultOf)
    expect([whole.rows.length, whole.unmatched.length]).toEqual([3, 1])
    const part = compareSessions([one, two], resultOf, { filter: { op: ['softmax'], backend: ['cpu'] } })
    expect(part.rows.map(({ case: c }) => [c.op, c.backend])).toEqual([['softmax', 'cpu']])
    expect(part.unmatched).toEqual([])
    expect(part.facets).toEqual(whole.facets)
    // A case that both sides have counts once.
    expect(part.facets.op).toEqual([{ value: 'add', cases: 1 }, { value: 'softmax', cases: 2 }, { value: 'gelu', cases: 1 }])
    expect(compareSessions([one, two], resultOf, { filter: { family: ['softmax'] } }).rows).toHaveLength(2)
  })

  test('works inside a session too', () => {
    const inside = session('a', side(1))
    expect(compareWithin(inside, { axis: 'backend' }, resultOf, { filter: { op: ['softmax'] } }).rows).toHaveLength(1)
    expect(() => compareWithin(inside, { axis: 'backend', baseline: 'cuda' }, resultOf, { filter: { backend: ['cpu'] } })).toThrow(UnknownValueError)
  })

  test('names what to keep, and nothing else', () => {
    expect(caseFilterSchema.safeParse({ op: [] }).success).toBe(false)
    expect(caseFilterSchema.safeParse({ colour: ['red'] }).success).toBe(false)
  })
})

test('an operation’s own threshold decides its verdicts, and no others', () => {
  const compare = (byOp?: Record<string, number>) => compareSessions([session('a', side(1)), session('b', side(1.05))], resultOf, { byOp })
  expect(compare().rows.map(({ cells }) => cells[1]!.verdict)).toEqual(['slower', 'slower', 'slower'])
  const own = compare({ softmax: 0.2 })
  expect(own.rows.map(({ cells }) => cells[1]!.verdict)).toEqual(['slower', 'same', 'same'])
  expect(own.opThresholds).toEqual({ softmax: 0.2 })
})

test('each side of a cell keeps its grade', () => {
  const { rows } = compareSessions([session('a', side(1)), session('b', side(1))], resultOf)
  expect(rows.map(({ cells }) => cells.map((cell) => cell?.grade))).toEqual([['A', 'A'], [undefined, undefined], [undefined, undefined]])
})
