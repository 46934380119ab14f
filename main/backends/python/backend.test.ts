import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { problemOf, type Device } from '@core/backend'
import { firstSeed, measureCase } from '@core/measure/measure-case'
import { PRESETS } from '@core/measure/settings'
import { OutputReader } from '@core/measure/verify/read'
import { getOp } from '@core/ops/registry'
import type { Result } from '@core/result'
import { testCase, testDevice } from '@core/testing'
import { PythonBackend, WorkerPool } from './backend'

const folder = mkdtempSync(join(tmpdir(), 'opscope-python-'))
afterAll(() => rmSync(folder, { recursive: true }))

const script = resolve(import.meta.dirname, '../../../test/fixtures/python-worker.mjs')
const device: Device = testDevice({ backend: 'python', id: 'python:cpu' })
const c = testCase({ backend: 'python', device: 'python:cpu', impl: 'torch', params: { n: 64 } })
let markers = 0

/** A backend whose first worker follows the scenario; later ones behave. Reports each start. */
function backendOf(scenario: string, { program = process.execPath } = {}) {
  const marker = join(folder, `marker-${(markers += 1)}`)
  const starts: string[] = []
  // Short only where the scenario runs into it, and with its worker alone: a busy machine holds any process back for a second.
  const silenceMs = scenario.startsWith('hang') ? 1000 : scenario.startsWith('slow') ? 1500 : 20_000
  const isFirst = () => starts.length <= 1
  const patience = {
    get silenceMs() { return isFirst() ? silenceMs : 20_000 },
    get totalMs() { return isFirst() && scenario === 'alive-forever' ? 1500 : 25_000 },
  }
  const command = (lane: { python: string }) => {
    starts.push(lane.python)
    return { program: starts.length === 1 ? program : process.execPath, args: [script, scenario, marker], env: process.env }
  }
  // Starting Node takes a while on a busy machine, and it says nothing before it has read its script.
  const pool = new WorkerPool({ command, guest: '/guest.so', patience: { silenceMs: scenario === 'slow-import' ? silenceMs : 20_000 } })
  const lane = { python: 'py', hardware: 'cpu' as const, ordinal: 0 }
  return { backend: new PythonBackend({ offers: () => Promise.resolve([{ device, lane }]), pool, patience, step: patience }), starts, pool, lane }
}

async function measure(backend: PythonBackend, alive?: () => void): Promise<Result> {
  const settings = PRESETS.quick
  const op = getOp(c.op)
  const prepared = await backend.open(problemOf(op, c, firstSeed(settings.seed)), alive)
  try {
    return await measureCase({ op, case: c, prepared, settings, resultId: 'r', filledSeed: firstSeed(settings.seed) })
  } finally {
    await prepared.dispose().catch(() => undefined)
  }
}

test('a case is verified, timed and closed, and the next one has the same worker', async () => {
  const { backend, starts } = backendOf('good')
  const result = await measure(backend)
  expect(result).toMatchObject({ status: 'ok', timer: 'steady-clock', hostCallNs: 250, caseBytes: 768 })
  expect(result.summary?.medianNs).toBeCloseTo(1003, -1)
  expect(result.libraryPeakBytes).toBeGreaterThan(1000)
  expect(await measure(backend)).toMatchObject({ status: 'ok' })
  expect(starts).toHaveLength(1)
})

test('two cases are open side by side, each in a worker of its own', async () => {
  const { backend, starts } = backendOf('good')
  const [a, b] = await Promise.all([1, 2].map((seed) => backend.open(problemOf(getOp('add'), c, seed))))
  await a!.run()
  await b!.run()
  expect([...(await a!.read(0, 0, 8))].filter((value) => value !== 0)).toHaveLength(8)
  expect(await a!.read(0, 0, 8)).not.toEqual(await b!.read(0, 0, 8))
  await a!.dispose()
  await b!.dispose()
  expect(starts).toHaveLength(2)
})

test('cases that were open side by side leave their workers to the next ones, and no more than three are kept', async () => {
  const { backend, starts } = backendOf('good')
  const openThenClose = async (count: number) => {
    const cases = await Promise.all(Array.from({ length: count }, (_, i) => backend.open(problemOf(getOp('add'), c, i + 1))))
    for (const one of cases) await one.dispose()
  }
  await openThenClose(2)
  await openThenClose(2)
  expect(starts).toHaveLength(2)
  await openThenClose(4)
  expect(starts).toHaveLength(4)
  await openThenClose(4)
  expect(starts).toHaveLength(5)
})

test('of many ranges in one stretch of an output, their elements alone are sent', async () => {
  const { backend } = backendOf('good')
  const prepared = await backend.open(problemOf(getOp('add'), c, 1))
  await prepared.run()
  const whole = await prepared.read(0, 0, 64)
  const ranges = Array.from({ length: 30 }, (_, i) => ({ start: 2 + 2 * i, count: i === 29 ? 3 : 1 }))
  const refusing = Object.assign(Object.create(prepared) as typeof prepared, { read: () => expect.fail('the whole stretch was read'), readWithin: prepared.readWithin!.bind(prepared) })
  expect([...(await new OutputReader(refusing).read(0, ranges))]).toEqual([...Array.from({ length: 29 }, (_, i) => whole[2 + 2 * i]!), ...whole.subarray(60, 63)])
  await prepared.dispose()
})

test.each([['slow-import', true], ['slow-open', true], ['chatty', false]])('%s: a worker that shows life may take longer than silence may last, and what libraries print is no sign of anything', async (scenario, shows) => {
  const { backend, starts } = backendOf(scenario)
  let signs = 0
  expect(await measure(backend, () => (signs += 1))).toMatchObject({ status: 'ok' })
  // The worker says 35 times that it is alive; a line of a library is none of these.
  expect(signs >= 35).toBe(shows)
  expect(starts).toHaveLength(1)
})

/** How the first case ends, be it while it is opened or measured. */
async function failureOf(backend: PythonBackend): Promise<{ code?: string | undefined; message?: string | undefined; detail?: string | undefined }> {
  try {
    const { errorCode, status, message, detail } = await measure(backend)
    expect(status).toBe('failed')
    return { code: errorCode, message, detail }
  } catch (error) {
    return error as Error
  }
}

test.each([
  ['other-version', 'internal', /answer that is not in the protocol \(protocol: .*expected 3/],
  ['no-package', 'unsupported', /Neither NumPy nor PyTorch/],
  ['import-fails', 'internal', /the Python worker ended with status 1/, /libcudart\.so\.12/],
  ['hang-open', 'internal', /said nothing for 1 s \(open\) and was ended/],
  ['alive-forever', 'internal', /was not done within 1.5 s \(compiling\)/],
  ['other-id', 'internal', /an answer to request 7, expected one to 2/],
  ['out-of-memory', 'out-of-memory', /asked for 8 GiB/, /MemoryError/],
  ['fail-run', 'kernel-failed', /mat1 and mat2/, /torch\/functional\.py/],
  ['garbage-frame', 'internal', /no frame: it begins with "Traceback/],
  ['huge-header', 'internal', /header of 2147483648 bytes/],
  ['huge-payload', 'internal', /payload of 2147483648 bytes/],
  ['bad-json', 'internal', /no JSON/],
  ['other-shape', 'internal', /not in the protocol/],
  ['short-read', 'internal', /read of 64 f32 elements with 252 bytes/],
  ['other-scan', 'internal', /answered a scan of 1 outputs with 0/],
  ['die', 'internal', /the Python worker was killed \(SIGKILL\)/, /terminate called/],
  ['hang-sample', 'internal', /said nothing for 1 s \(sample\)/],
  ['too-many', 'internal', /2 samples when 1 were asked for/],
  ['nan', 'internal', /NaN ns as sample 0/],
  ['short', 'internal', /8 bytes for 1 samples of samplesNs, clockMhz/],
  ['no-samples', 'internal', /arrays clockMhz; expected samplesNs/],
])('%s costs the case alone: it ends in plain words and the next one works', async (scenario, code, message, detail?: RegExp) => {
  const { backend, starts } = backendOf(scenario)
  const failure = await failureOf(backend)
  expect(failure).toMatchObject({ code, message: expect.stringMatching(message), ...(detail ? { detail: expect.stringMatching(detail) } : {}) })
  expect(await measure(backend)).toMatchObject({ status: 'ok' })
  expect(starts.length).toBeLessThanOrEqual(2)
})

test('a case that is not supported leaves its worker warm', async () => {
  const { backend, starts } = backendOf('unsupported')
  expect(await failureOf(backend)).toMatchObject({ code: 'unsupported', message: 'add is not here' })
  expect(await failureOf(backend)).toMatchObject({ code: 'unsupported' })
  expect(starts).toHaveLength(1)
})

test('an interpreter that is gone is told as such', async () => {
  const { backend } = backendOf('good', { program: '/nowhere/python3' })
  expect(await failureOf(backend)).toMatchObject({ code: 'unsupported', message: expect.stringMatching(/^the Python \/nowhere\/python3 could not be started: .*ENOENT/) })
  expect(await measure(backend)).toMatchObject({ status: 'ok' })
})

test('a device that no Python serves is refused with those that are there', async () => {
  const { backend } = backendOf('good')
  await expect(backend.open(problemOf(getOp('add'), { ...c, device: 'python:cuda:3' }, 1))).rejects.toThrow('no Python can be used as "python:cuda:3"; usable are python:cpu')
})
