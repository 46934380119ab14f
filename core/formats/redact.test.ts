import { describe, expect, it } from 'vitest'
import { sessionFileSchema } from '../session/types'
import { testDevice, testResult, testSession } from '../testing'
import { randomSession } from './testing/sessions'
import { identifying, identifyingIn, readRedactions, redact, redactIn, REDACTIONS, usualRedactions, type Redaction } from './redact'
import { exportSession, prepareExport } from './registry'

await prepareExport('html')

const UUID = 'GPU-5a1f0c3e-1b2c-4d5e-8f90-a1b2c3d4e5f6'

/** A session in which somebody shows everywhere. */
function personal() {
  const file = testSession(
    [
      testResult({ message: 'cannot open /home/alice/kernels/gelu.cu on lynx', detail: 'at load (/home/alice/kernels/gelu.cu:12:3)\nC:\\Users\\Bob Miller\\AppData\\x.dll', notes: ['asked alice, 120 GB/s, see https://a.b/c/d'] }),
      testResult({ id: 'r2', labels: [{ kind: 'disturbed', reason: `${UUID} in use`, first: 0, count: 1 }] }),
    ],
    { name: 'Night run on LYNX', notes: 'mail alice@example.org', tags: ['lynx.lab.example'] },
  )
  file.environment.host = 'lynx.lab.example'
  file.environment.switches = ['CUDA_CACHE_PATH=/data/cache/alice', '--enable-x']
  file.environment.devices = [testDevice({ name: 'GPU of lynx', facts: [{ name: 'Serial number', value: '1324720041337' }, { name: 'Clock', value: '1980 MHz' }] })]
  return file
}
const without = (...kinds: Redaction[]) => redact(personal(), [], new Set(kinds)).file

describe('what identifies', () => {
  it('is counted by kind, with examples from their places', () => {
    expect(identifying(personal()).map(({ kind, count }) => [kind, count])).toEqual([['host', 5], ['user', 6], ['paths', 4], ['ids', 2]])
    const [host, user, paths, ids] = identifying(personal())
    expect(host!.examples).toContain('Night run on LYNX')
    expect(user!.examples.join()).toContain('mail alice@example.org')
    expect(paths!.examples.join()).toContain('/home/alice/kernels/gelu.cu')
    expect(ids!.examples.join()).toContain('1324720041337')
  })

  it('is not found in units, addresses, versions, shapes and common accounts', () => {
    const file = testSession([testResult({ message: '120 GB/s, 3/4 of it, https://x.y/z/w, 570.86.10, 4096x4096, in /root', notes: ['and/or'] })])
    file.environment.host = ''
    expect(identifying(file).map(({ kind, count }) => [kind, count])).toEqual([['paths', 1]])
  })
})

describe('a file without it', () => {
  it('says so where something was, and keeps the rest', () => {
    const file = without(...REDACTIONS)
    expect(file.environment.host).toBe('[host]')
    expect(file.session).toMatchObject({ id: 's1', name: 'Night run on [host]', notes: 'mail [user]', tags: ['[host]'] })
    expect(file.environment.switches).toEqual(['CUDA_CACHE_PATH=[path]', '--enable-x'])
    expect(file.environment.devices[0]).toMatchObject({ name: 'GPU of [host]', facts: [{ value: '[id]' }, { value: '1980 MHz' }] })
    expect(file.results[0]).toMatchObject({ message: 'cannot open [path] on [host]', notes: ['asked [user], 120 GB/s, see https://a.b/c/d'], samplesNs: personal().results[0]!.samplesNs })
    expect(file.results[0]!.detail).toBe('at load ([path]:12:3)\n[path]')
    expect(file.results[1]!.labels![0]!.reason).toBe('[id] in use')
    expect(identifying(file)).toEqual([])
    for (const name of ['html', 'markdown', 'json', 'csv']) expect(exportSession(name, personal(), { ceilings: [], leaveOut: new Set(REDACTIONS) })).not.toMatch(/lynx|alice|miller|5a1f0c3e|1324720041337/i)
  })

  it('names no folder of a Python, with whatever letters and spaces, but its packages', () => {
    const file = testSession()
    const path = '/mnt/Größe 2/my env/bin/python3'
    const packages = [{ name: 'torch', version: '2.5.1' }, { name: 'triton', problem: 'not installed', install: `"${path}" -m pip install triton` }]
    file.environment.devices = [testDevice({ backend: 'python', id: 'python:cpu', interpreter: { path, source: 'conda', packages }, facts: [{ name: 'PyTorch', value: '2.5.1' }] })]
    expect(redact(file, [], new Set(['paths'])).file.environment.devices[0]!.interpreter).toEqual({ path: '[path]', source: 'conda', packages: [packages[0], { name: 'triton', problem: 'not installed', install: '"[path]" -m pip install triton' }] })
    for (const name of ['html', 'markdown']) {
      expect(exportSession(name, file, { ceilings: [], leaveOut: new Set() })).toContain(path)
      const clean = exportSession(name, file, { ceilings: [], leaveOut: usualRedactions({ forSharing: true }) })
      expect(clean).not.toMatch(/Größe|my env/)
      expect(clean).toMatch(/PyTorch[^]*2\.5\.1/)
    }
  })

  it('loses one kind at a time', () => {
    expect(without('user').results[0]!.message).toBe('cannot open /home/[user]/kernels/gelu.cu on lynx')
    expect(without('host').results[0]!.message).toBe('cannot open /home/alice/kernels/gelu.cu on [host]')
    expect(without()).toEqual(personal())
  })

  it('knows users that the file does not tell, and short names of computers only in their own field', () => {
    const file = testSession([testResult({ message: 'carol has pc 7' })])
    file.environment.host = 'pc'
    const { file: cleaned } = redact(file, [], new Set(REDACTIONS), { users: ['carol', 'root'] })
    expect([cleaned.results[0]!.message, cleaned.environment.host]).toEqual(['[user] has pc 7', '[host]'])
    expect(identifying(file).map(({ kind }) => kind)).toEqual(['host'])
  })

  it('still finds its ceilings', () => {
    const ceiling = { backend: 'cpu', device: 'cpu', deviceName: 'GPU of lynx', kind: 'copy', value: 1, unit: 'bytes/s' as const, measuredAt: '', result: testResult() }
    const { file, ceilings } = redact(personal(), [ceiling], new Set(['host']))
    expect(ceilings[0]!.deviceName).toBe(file.environment.devices[0]!.name)
  })

  it('stays a valid session, and nothing is found in it again, whatever it was', () => {
    for (let seed = 0; seed < 300; seed++) {
      const { file } = redact(randomSession(seed), [], new Set(REDACTIONS))
      expect(sessionFileSchema.safeParse(file).success).toBe(true)
      expect(identifying(file)).toEqual([])
    }
  })
})

it('reads what to leave out', () => {
  expect([...readRedactions('host, ids')]).toEqual(['host', 'ids'])
  expect(readRedactions('all').size).toBe(4)
  expect(readRedactions('none').size).toBe(0)
  expect(() => readRedactions('name')).toThrow('expected all, none or a list of host, user, paths, ids')
})

it('a comparison is written without the names behind its sides, its numbers and operations unchanged', () => {
  const comparison = { sessions: [{ id: 's1', name: 'Run of alice on lab-7' }], environmentDifferences: ['computer: lab-7.example.org in one, other in two', 'driver at /opt/cuda/lib64 in one'], rows: [{ case: { op: 'gelu' }, cells: [{ resultId: '1b3f2534-022f-4068-95dc-036d50d607b5', ratio: 1.25, verdict: 'slower' }] }] }
  const known = { hosts: ['lab-7.example.org'], users: ['alice'], serials: [] }
  expect(identifyingIn(comparison, known).map(({ kind }) => kind)).toEqual(['host', 'user', 'paths'])
  const shown = redactIn(comparison, new Set(REDACTIONS), known)
  expect(JSON.stringify(shown)).not.toMatch(/lab-7|alice|\/opt/)
  expect(shown.rows).toEqual(comparison.rows)
  expect(identifyingIn(shown, known)).toEqual([])
  expect(redactIn(comparison, new Set(), known)).toEqual(comparison)
  expect(redactIn(['Kernel: 6.1 in “of /home/alice/a b/c”, 6.2 in “/opt/x/y”.'], new Set(REDACTIONS), known)).toEqual(['Kernel: 6.1 in “of [path] b/c”, 6.2 in “[path]”.'])
  const short = ['Machine: lab-7.example.org in “vm in A”, vm in “B”.', 'Machine: vm in the baseline, pc in the other session.', 'Kernel: 6.1 in “A”, vm in “B”.']
  expect(redactIn(short, new Set(REDACTIONS), { ...known, hosts: [...known.hosts, 'vm', 'pc'] })).toEqual(['Machine: [host] in “vm in A”, [host] in “B”.', 'Machine: [host] in the baseline, [host] in the other session.', short[2]])
})
