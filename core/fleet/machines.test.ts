import { expect, test } from 'vitest'
import { redact } from '../formats/redact'
import { compareSessions, compareWithin, comparisonSchema } from '../compare'
import { testCase, testDevice, testGpu, testResult, testSession } from '../testing'
import type { Result } from '../result'
import { blockOf, rowAt } from '../session/rows'
import type { SessionFile } from '../session/types'
import { onMachines } from './collect'
import { environmentOn, machineOf, onOneMachine } from './machines'
import { deviceOn } from './place'

const environment = (host: string, driver: string) => ({ ...testSession([]).environment, host, devices: [testGpu({ driver, facts: [{ name: 'Power limit', value: host === 'alpha.lab' ? '700 W' : '500 W' }] })] })
const result = (id: string, medianNs: number): Result => testResult({ id, case: testCase({ backend: 'cuda', device: 'cuda:0', impl: 'kernel', threads: undefined }), samplesNs: Array.from({ length: 40 }, (_, i) => medianNs + (i % 5) - 2), summary: { count: 40, medianNs } })
const both = (): SessionFile => onMachines({ id: 's', name: 'Both cards', state: 'done', left: 0, notes: '' }, [
  { host: 'alpha.lab', environment: environment('alpha.lab', '580.1'), results: [result('a', 1000)], createdAt: '2026-01-01T00:00:00.000Z' },
  { host: 'beta.lab', environment: environment('beta.lab', '570.9'), results: [result('b', 1200)], createdAt: '2026-01-01T00:00:00.000Z' },
])
const rowsOf = ({ results }: SessionFile) => results.map((_, i) => rowAt(blockOf(results, 0), i))
const compared = (file: SessionFile) => ({ id: file.session.id, name: file.session.name, createdAt: file.session.createdAt, environment: file.environment, rows: rowsOf(file) })
const resultIn = (...files: SessionFile[]) => (id: string) => files.flatMap(({ results }) => results).find((one) => one.id === id)!

test('the same card of two machines is compared by host, with what differs between them told', () => {
  const file = both()
  expect(file.results.map(({ case: c }) => machineOf(c))).toEqual(['alpha', 'beta'])
  const comparison = comparisonSchema.parse(compareWithin(compared(file), { axis: 'host' }, resultIn(file)))
  expect(comparison.sessions.map(({ value }) => value)).toEqual(['alpha', 'beta'])
  expect(comparison.rows).toHaveLength(1)
  expect(comparison.rows[0]!.cells[1]).toMatchObject({ verdict: 'slower' })
  expect(comparison.environmentDifferences).toEqual(expect.arrayContaining([expect.stringContaining('Power limit of Test GPU: 700 W in “alpha”, 500 W in “beta”'), expect.stringContaining('580.1 in “alpha”, 570.9 in “beta”')]))
})

test('a session of one remote machine is compared with one that was made there', () => {
  const local = testSession([result('l', 1000)])
  local.environment = environment('gpubox.lab', '580.1')
  const remote = testSession([{ ...result('r', 1000), case: { ...result('r', 1).case, device: 'gpubox/cuda:0' } }])
  remote.environment = { ...testSession([]).environment, host: 'laptop', cpu: 'another', devices: local.environment.devices.map((device) => ({ ...device, id: deviceOn('gpubox', device.id), host: 'gpubox' })), machines: [{ name: 'gpubox', facts: (({ devices: _, ...facts }) => facts)(local.environment) }] }
  const comparison = compareSessions([compared(local), { ...compared(remote), id: 's2' }], resultIn(local, remote))
  expect(comparison.rows).toHaveLength(1)
  expect(comparison.environmentDifferences).toEqual([])
  expect(onOneMachine(compared(local))).toEqual(compared(local))
  expect(environmentOn(remote.environment, 'gpubox').devices[0]).toMatchObject({ id: 'cuda:0' })
})

test('names of machines are left out of files that are shared, and their devices stay apart', () => {
  const file = both()
  file.session.notes = 'alpha is the old one'
  file.environment.devices.push(testDevice({ id: 'alpha/cpu', host: 'alpha' }))
  const { file: shared } = redact(file, [], new Set(['host']))
  expect(JSON.stringify(shared)).not.toMatch(/alpha|beta/)
  expect(shared.results.map(({ case: c }) => c.device)).toEqual(['host1/cuda:0', 'host2/cuda:0'])
  expect(shared.environment.machines?.map(({ name }) => name)).toEqual(['host1', 'host2'])
  expect(shared.environment.devices.map(({ id, host }) => [id, host])).toEqual([['host1/cuda:0', 'host1'], ['host2/cuda:0', 'host2'], ['host1/cpu', 'host1']])
  expect(shared.results[0]!.samplesNs).toEqual(file.results[0]!.samplesNs)
})
