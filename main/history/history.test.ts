import { mkdtempSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { resultSchema } from '@core/result'
import { rowAt, blockOf } from '@core/session/rows'
import { sessionFileSchema, type Environment } from '@core/session/types'
import { InUseError, NotFoundError, openHistory, type History } from '.'
import { openSqlite } from './database/sqlite'
import { failedResult, testCase, testEnvironment, testResult, testSettings } from './testing/sessions'

let folder: string
let file: string
let history: History

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-history-'))
  file = join(folder, 'below', 'history.db')
  history = openHistory(file).history
})
afterEach(() => {
  history.close()
  rmSync(folder, { recursive: true })
})
const reopen = () => {
  history.close()
  history = openHistory(file).history
}
const create = (name: string, cases = [testCase(1), testCase(2), testCase(3)]) => history.createSession({ name, environment: testEnvironment, settings: testSettings, cases })

describe('what cases took', () => {
  test('comes newest first, with the settings and the name of the device then, of right results alone', () => {
    const [first, second] = [create('one').id, create('two').id]
    history.addResult(first, { ...testResult('a', testCase(1)), wallMs: 1000 })
    history.addResult(second, { ...testResult('b', testCase(2)), wallMs: 2000 })
    history.addResult(second, failedResult('c', testCase(3)))
    reopen()
    const deviceName = testEnvironment.devices[0]!.name
    expect(history.lastTook('bench', 10)).toEqual([
      { case: testCase(2), deviceName, settings: testSettings, wallSeconds: 2 },
      { case: testCase(1), deviceName, settings: testSettings, wallSeconds: 1 },
    ])
    expect(history.lastTook('another machine', 10)).toEqual([])
    expect(history.lastTook('bench', 1)).toHaveLength(1)
  })
})

describe('results', () => {
  test('come back exactly, samples to the bit, after the file was closed', () => {
    const { id } = create('one')
    const given = [testResult('a', testCase(1)), failedResult('b', testCase(2)), testResult('c', { ...testCase(3), params: { rows: 3, axis: 'last', flag: true } }, 1)]
    for (const result of given) history.addResult(id, resultSchema.parse(result))
    reopen()
    expect([...history.results(id)]).toEqual(given)
    expect(history.result('c')).toEqual(given[2])
    expect(Object.keys(history.result('c').case.params)).toEqual(['rows', 'axis', 'flag'])
  })

  test('that arrive together are stored once each, whatever came before, or not at all', () => {
    const { id } = create('one')
    history.addResult(id, testResult('a', testCase(1)))
    expect(history.addNewResults(id, [testResult('a', testCase(1)), testResult('b', testCase(2)), failedResult('c', testCase(3)), testResult('b', testCase(2))])).toEqual(['b', 'c'])
    expect(history.summary(id)).toMatchObject({ results: 3, failures: 1 })
    expect([...history.results(id)].map((result) => result.id)).toEqual(['a', 'b', 'c'])
    expect(() => history.addNewResults('none', [testResult('d', testCase(1))])).toThrow(NotFoundError)
    expect(history.addNewResults(id, [])).toEqual([])
  })

  test('figures beside each sample come back to the bit, and those of results without them stay absent', () => {
    const { id } = create('one')
    const beside = { ...testResult('a', testCase(1), 3), clocksMhz: [1979.9999999999998, 0, 1410.1], probesNs: [5e-324, 1 / 3, 2 ** 53] }
    const given = [beside, testResult('b', testCase(2), 3), { ...testResult('c', testCase(3), 2), probesNs: [] }]
    for (const result of given) history.addResult(id, resultSchema.parse(result))
    reopen()
    expect([...history.results(id)]).toEqual(given)
    expect(history.result('b')).not.toHaveProperty('clocksMhz')
    expect(history.exportSession(id).results).toEqual(given)
  })

  test('rows are what the results say, by column, in the order measured, in any part', () => {
    const { id } = create('one')
    const given = Array.from({ length: 25 }, (_, i) => (i % 7 === 3 ? failedResult(`r${i}`, testCase(i % 4)) : { ...testResult(`r${i}`, testCase(i % 4), i + 1), ...(i % 7 === 5 ? { grade: 'C' as const, gradeReasons: ['Not converged: time limit.', 'Noisy.'] } : {}) }))
    for (const result of given) history.addResult(id, result)
    const block = history.rows(id, 5, 10)
    const expected = blockOf(given.slice(5, 15), 5)
    expect(block.ids).toEqual(expected.ids)
    expect(block.ids.map((_, i) => rowAt(block, i))).toEqual(expected.ids.map((_, i) => rowAt(expected, i)))
    expect(block.gradeReasons).toEqual({ 0: ['Not converged: time limit.', 'Noisy.'], 7: ['Not converged: time limit.', 'Noisy.'] })
    expect(block.cases).toHaveLength(4)
    expect(history.rows(id, 20, 100).ids).toHaveLength(5)
    expect(history.rows(id, 25, 10)).toMatchObject({ first: 25, ids: [], cases: [] })
  })

  test('of interleaved rounds and of repeats say so in their rows, those of a version that kept no repeat in rows too', () => {
    const { id } = create('one')
    const rounds = { group: 7, numbers: [0, 1, 2, 3], firstSamples: [0, 4, 8, 12], firstRounds: [0, 2] }
    const given = [0, 1].map((run) => ({ ...testResult(`r${run}`, testCase(1)), rounds, run }))
    for (const result of given) history.addResult(id, result)
    expect(history.rows(id, 0, 2)).toEqual(blockOf(given, 0))
    expect(history.rows(id, 1, 1).rounds).toEqual({ 0: { group: 7, passes: [expect.objectContaining({ first: 0, rounds: 2 }), expect.objectContaining({ first: 2, rounds: 2 })] } })
    history.close()
    const db = openSqlite(file)
    db.exec("update results set numbers = substr(numbers, 1, 20 * 8); update bodies set json = '{' where json like '%\"r0\"%'")
    db.close()
    history = openHistory(file).history
    expect([...history.rows(id, 0, 2).numbers.run]).toEqual([NaN, 1])
  })

  test('with new samples under an id that was there before have the passes of these samples', () => {
    const rounds = { group: 7, numbers: [0, 1], firstSamples: [0, 4], firstRounds: [0] }
    const result = { ...testResult('again', testCase(1)), rounds }
    const { id } = create('one')
    history.addResult(id, result)
    const before = history.rows(id, 0, 1).rounds[0]!
    const slower = { ...result, samplesNs: result.samplesNs.map((ns) => ns * 2), summary: { ...result.summary!, medianNs: result.summary!.medianNs * 2 } }
    const db = openSqlite(file)
    db.exec('delete from results')
    db.close()
    const { id: other } = create('two')
    history.addResult(other, slower)
    expect(history.rows(other, 0, 1).rounds[0]!.passes[0]!.ns).toBe(2 * before.passes[0]!.ns)
  })

  test('are counted with failures, and remaining cases are those without one', () => {
    const { id } = create('one')
    history.addResult(id, testResult('a', testCase(1)))
    // The same case, its keys in the order another process wrote them.
    const { op, params, ...rest } = testCase(3)
    history.addResult(id, failedResult('b', { ...rest, params, op }))
    expect(history.summary(id)).toMatchObject({ planned: 3, results: 2, failures: 1, ops: ['add'], devices: ['Test CPU 9000'] })
    expect(history.remaining(id)).toEqual([testCase(2)])
  })

  test('of a case planned several times leave the later times', () => {
    const run = [testCase(1), testCase(2)]
    const { id } = create('repeated', [...run, ...run, ...run])
    for (const [i, n] of [1, 2, 1].entries()) history.addResult(id, testResult(`r${i}`, testCase(n)))
    expect(history.remaining(id)).toEqual([testCase(2), ...run])
  })

  test('of a session that decides as it goes are counted in the end', () => {
    const { id } = create('open', [])
    history.setPlanned(id, 48)
    reopen()
    expect(history.summary(id).planned).toBe(48)
    expect(() => history.setPlanned('x', 1)).toThrow(NotFoundError)
  })

  test.each(['stopped', 'interrupted'] as const)('a session that was %s lists the operations that it measured, and takes up others when it goes on', (state) => {
    const { id } = create('one', [testCase(1), testCase(2, 'exp'), testCase(3, 'gelu'), testCase(4, 'relu')])
    expect(history.summary(id).ops).toEqual(['add', 'exp', 'gelu', 'relu'])
    history.addResult(id, testResult('a', testCase(2, 'exp')))
    history.addResult(id, testResult('b', testCase(1)))
    history.setState(id, state)
    expect(history.summary(id)).toMatchObject({ ops: ['exp', 'add'], results: 2, planned: 4 })
    history.setState(id, 'running')
    history.addResult(id, testResult('c', testCase(4, 'relu')))
    expect(history.summary(id).ops).toEqual(['exp', 'add', 'relu'])
    // One that measured nothing still says what it was to measure.
    const nothing = create('two')
    history.setState(nothing.id, 'stopped')
    expect(history.summary(nothing.id).ops).toEqual(['add'])
  })

  test('a second result with the same id is refused and leaves nothing behind', () => {
    const { id } = create('one')
    history.addResult(id, testResult('a', testCase(1)))
    expect(() => history.addResult(id, testResult('a', testCase(99, 'exp')))).toThrow(/UNIQUE/i)
    expect(history.summary(id)).toMatchObject({ results: 1, ops: ['add'] })
    history.addResult(id, testResult('b', testCase(99, 'exp')))
    expect(history.summary(id)).toMatchObject({ results: 2, ops: ['add', 'exp'] })
    expect(history.result('b').case).toEqual(testCase(99, 'exp'))
  })
})

describe('sessions', () => {
  test('keep name, notes, tags, settings, plan and environment', () => {
    const spec = { ops: [{ op: 'add', variants: { axis: ['last'] } }], sizes: { vector: '2^4', matrix: '', gemm: '' }, dtypes: ['f32' as const], targets: [], modes: ['hot' as const], preset: 'quick' as const }
    const session = history.createSession({ name: 'x', environment: testEnvironment, settings: testSettings, spec, cases: [] })
    expect(session).toMatchObject({ name: 'x', state: 'running', planned: 0 })
    expect(history.updateSession(session.id, { name: 'renamed', notes: 'n', tags: ['a', 'b'] })).toMatchObject({ name: 'renamed', notes: 'n', tags: ['a', 'b'] })
    history.updateSession(session.id, { notes: '' })
    history.setState(session.id, 'done')
    reopen()
    expect(history.getSession(session.id)).toEqual({ session: { ...session, name: 'renamed', notes: '', tags: ['a', 'b'], state: 'done' }, environment: testEnvironment, results: 0 })
  })

  test('that no sweep made say what they are, and are found from the one they add to, oldest first', () => {
    const parent = create('parent')
    const added = ['first', 'second'].map((name) => history.createSession({ name, environment: testEnvironment, settings: testSettings, about: { kind: 'interleaved', session: parent.id }, cases: [] }))
    const alone = history.createSession({ name: 'check', environment: testEnvironment, settings: testSettings, about: { kind: 'self-check' }, cases: [] })
    reopen()
    expect(history.addedTo(parent.id).map((s) => [s.name, s.about])).toEqual(added.map((s) => [s.name, { kind: 'interleaved', session: parent.id }]))
    expect(history.getSession(alone.id).session.about).toEqual({ kind: 'self-check' })
    expect(history.summary(parent.id)).not.toHaveProperty('about')
    expect(history.addedTo(alone.id)).toEqual([])
    history.setState(added[0]!.id, 'done')
    history.deleteSessions([added[0]!.id])
    expect(history.addedTo(parent.id).map((s) => s.id)).toEqual([added[1]!.id])
    const file = { ...history.exportSession(added[1]!.id), results: [] }
    const elsewhere = openHistory(join(folder, 'elsewhere.db')).history
    expect(elsewhere.importSession(file).about).toEqual({ kind: 'interleaved', session: parent.id })
    elsewhere.close()
  })

  test('of this machine have the ceilings known here where none were recorded, also in their files; those of another machine do not', () => {
    const ceiling = { backend: 'cpu', device: 'cpu', deviceName: 'Test CPU 9000', kind: 'copy', value: 5e9, unit: 'bytes/s' as const, measuredAt: '2026-02-03T00:00:00.000Z', result: testResult('c', testCase(4)) }
    history.putCeiling(ceiling)
    const make = (environment: Environment) => history.createSession({ name: 's', environment, settings: testSettings, cases: [] }).id
    const [here, elsewhere, recorded] = [make({ ...testEnvironment, host: hostname() }), make(testEnvironment), make({ ...testEnvironment, host: hostname(), ceilings: [{ ...ceiling, value: 4e9 }] })]
    expect(history.getSession(here).environment.ceilings).toMatchObject([{ kind: 'copy', value: 5e9, result: { samplesNs: [] } }])
    expect(history.exportSession(here).environment.ceilings).toHaveLength(1)
    expect(history.getSession(elsewhere).environment).not.toHaveProperty('ceilings')
    expect(history.exportSession(recorded).environment.ceilings).toMatchObject([{ value: 4e9 }])
  })

  test('are found by any word of name, notes, tags, operations and devices; signs are plain text', () => {
    const a = create('Softmax 100%')
    const b = create('nightly ÜBER', [testCase(1, 'layer_norm')])
    history.updateSession(b.id, { notes: 'after the driver update', tags: ['gpu'] })
    const found = (search: string) => history.listSessions({ search, deleted: false }).map((s) => s.id)
    expect(found('')).toEqual([b.id, a.id])
    expect(found('softmax')).toEqual([a.id])
    expect(found('DRIVER gpu')).toEqual([b.id])
    expect(found('layer_norm')).toEqual([b.id])
    expect(found('cpu 9000')).toEqual([b.id, a.id])
    expect(found('100%')).toEqual([a.id])
    expect(found('über')).toEqual([b.id])
    expect(found('%')).toEqual([a.id])
    expect(found("'; drop table sessions; --")).toEqual([])
  })

  test('deleted ones can be restored, and are purged a day later with their results', () => {
    const { id } = create('one')
    history.addResult(id, testResult('a', testCase(1)))
    const kept = create('two')
    history.addResult(kept.id, testResult('b', testCase(1)))
    // A run writes to it until it has ended; nothing else is deleted meanwhile.
    expect(() => history.deleteSessions([kept.id, id])).toThrow(new InUseError('“one” is being measured. Stop the run first. Nothing was deleted.'))
    expect(history.listSessions({ search: '', deleted: true })).toEqual([])
    history.setState(id, 'done')
    expect(history.deleteSessions([id, 'no-such'])).toBe(1)
    expect(history.listSessions({ search: '', deleted: false }).map((s) => s.id)).toEqual([kept.id])
    expect(history.listSessions({ search: '', deleted: true }).map((s) => s.id)).toEqual([id])
    reopen()
    expect(history.restoreSessions([id])).toBe(1)
    expect(history.result('a').samplesNs).toHaveLength(16)
    history.deleteSessions([id])
    vi.useFakeTimers({ now: Date.now() + 25 * 3600_000, toFake: ['Date'] })
    reopen()
    vi.useRealTimers()
    expect(history.restoreSessions([id])).toBe(0)
    expect(() => history.result('a')).toThrow(NotFoundError)
    expect([...history.results(kept.id)]).toEqual([testResult('b', testCase(1))])
  })

  test('unknown ids are not found', () => {
    for (const call of [
      () => history.addResult('x', testResult('a', testCase(1))), () => history.setState('x', 'done'), () => history.summary('x'), () => history.getSession('x'), () => history.rows('x', 0, 1),
      () => history.result('x'), () => history.results('x'), () => history.remaining('x'), () => history.updateSession('x', { name: 'y' }), () => history.exportSession('x'),
    ]) expect(call).toThrow(NotFoundError)
  })
})

describe('export and import', () => {
  test('give back an identical session in another history', () => {
    const { id } = create('one')
    for (let i = 0; i < 600; i++) history.addResult(id, i % 50 ? testResult(`r${i}`, testCase(i % 9), 3) : failedResult(`r${i}`, testCase(i % 9)))
    history.updateSession(id, { notes: 'ünïcode\n<b>', tags: ['t'] })
    history.setState(id, 'done')
    const exported = sessionFileSchema.parse(JSON.parse(JSON.stringify(history.exportSession(id))))
    const other = openHistory(join(folder, 'other.db')).history
    expect(other.importSession(exported)).toEqual(history.summary(id))
    expect(other.exportSession(id)).toEqual(exported)
    other.close()
  })

  test('a session that is already here comes in under new ids', () => {
    const { id } = create('one')
    history.addResult(id, testResult('a', testCase(1)))
    history.setState(id, 'done')
    const exported = history.exportSession(id)
    const again = history.importSession(exported)
    expect(again.id).not.toBe(id)
    expect(again.alreadyHere).toBe(true)
    expect(history.summary(again.id)).not.toHaveProperty('alreadyHere')
    const copy = history.exportSession(again.id)
    expect(copy).toEqual({ ...exported, session: { ...exported.session, id: again.id }, results: [{ ...exported.results[0], id: copy.results[0]!.id }] })
    expect(copy.results[0]!.id).not.toBe('a')
    // A session that was deleted is not here.
    history.deleteSessions([id, again.id])
    expect(history.importSession(exported)).not.toHaveProperty('alreadyHere')
  })

  test('are all or nothing', () => {
    const { id } = create('one')
    const exported = { ...history.exportSession(id), session: { ...history.exportSession(id).session, id: 'new' }, results: [testResult('same', testCase(5, 'mul')), testResult('same', testCase(6, 'mul'))] }
    const summary = history.importSession(exported)
    expect(summary).toMatchObject({ id: 'new', results: 2, state: 'stopped' })
    const broken = { ...exported, session: { ...exported.session, id: 'broken', name: null as unknown as string } }
    expect(() => history.importSession(broken)).toThrow()
    expect(history.listSessions({ search: '', deleted: false }).map((s) => s.id)).toEqual(['new', id].sort((a, b) => Number(a === id) - Number(b === id)))
  })
})

test('noise floors are kept one per device and driver, the newest', () => {
  const floor = { backend: 'cuda', device: 'cuda:0', deviceName: 'GPU', driver: '550.1', measuredAt: '2026-01-01T00:00:00Z', pairs: 40, falseVerdicts: 0, ratioP50: 0.001, ratioP95: 0.004, sessionId: 's' }
  const { driver: _driver, ...undriven } = { ...floor, backend: 'cpu', device: 'cpu', deviceName: 'CPU' }
  for (const given of [floor, undriven, { ...floor, driver: '580.2' }, { ...floor, ratioP95: 0.002 }]) history.putNoiseFloor(given)
  reopen()
  expect(history.noiseFloors()).toEqual([undriven, { ...floor, ratioP95: 0.002 }, { ...floor, driver: '580.2' }])
})

test('ceilings of another driver are kept beside those of this one', () => {
  const ceiling = { backend: 'cuda', device: 'cuda:0', deviceName: 'GPU', driver: '550.1', kind: 'copy', value: 1e12, unit: 'bytes/s' as const, measuredAt: '2026-01-01T00:00:00Z', result: testResult('a', testCase(1, 'copy')) }
  history.putCeiling(ceiling)
  history.putCeiling({ ...ceiling, driver: '580.2', value: 2e12 })
  history.putCeiling({ ...ceiling, driver: '580.2', value: 3e12 })
  expect(history.ceilings().map((c) => [c.driver, c.value])).toEqual([['550.1', 1e12], ['580.2', 3e12]])
})

test('ceilings are kept one per kind and device, the newest', () => {
  const ceiling = { backend: 'cpu', device: 'cpu', deviceName: 'Test CPU', kind: 'copy', value: 1e10, unit: 'bytes/s' as const, measuredAt: '2026-01-01T00:00:00Z', result: testResult('a', testCase(1, 'copy')) }
  history.putCeiling(ceiling)
  history.putCeiling({ ...ceiling, kind: 'flops:f32', unit: 'FLOP/s' })
  history.putCeiling({ ...ceiling, value: 2e10 })
  reopen()
  expect(history.ceilings().map((c) => [c.kind, c.value])).toEqual([['copy', 2e10], ['flops:f32', 1e10]])
  expect(history.ceilings()[0]).toEqual({ ...ceiling, value: 2e10 })
})

test('sessions of suites are told, newest first, without deleted ones and other sweeps', () => {
  const spec = { ops: [], sizes: {}, dtypes: [], targets: [], modes: [], preset: 'quick' as const }
  const made = (suite?: string) => history.createSession({ name: suite ?? 'a sweep', environment: testEnvironment, settings: testSettings, cases: [], spec: { ...spec, ...(suite === undefined ? {} : { suite }) } }).id
  const [first, , gone, last] = [made('trueno'), made(), made('genesis'), made('trueno')]
  for (const id of [first, gone, last]) history.setState(id!, 'done')
  history.deleteSessions([gone!])
  expect(history.suiteSessions()).toEqual([{ id: last, suite: 'trueno' }, { id: first, suite: 'trueno' }])
})
