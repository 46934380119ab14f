import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Comparison } from '@core/compare'
import type { Device } from '@core/backend'
import type { Row } from '@core/session/rows'
import type { Ceiling, NoiseFloor, SessionFile, SessionSummary } from '@core/session/types'
import { electronBinary } from '../../scripts/lib/electron.mjs'
import { HOST_FLAG } from '../../main/backends/webgpu/switches'
import { Cli, sweep } from './cli'

interface RunJson {
  session: SessionSummary
  rows: Row[]
}

test('a sweep in a pipe prints plain lines and a table with units, and its session can be shown again', async () => {
  const cli = new Cli()
  const { status, out, err } = await cli.run(sweep(3, 'steady', '--name', 'three sizes'))
  expect(status).toBe(0)
  expect(out).toMatch(/^op +shape +dtype +device +impl +mode +median µs /)
  const [results = '', answer = ''] = out.trim().split('\n\n')
  expect(results.split('\n')).toHaveLength(4)
  expect(answer).toMatch(/^Only fake steady was measured: there is nothing to compare it with\.\nNoise floor not measured; grades: /)
  expect(err).toMatch(/^opscope: 1 operation × 3 sizes × f32 × 1 implementation, hot: 3 cases, about .+\nopscope: Warning: possible interference. Scripted device: Times are invented\.\nadd 64 f32 fake:0 steady hot: 2\.\d+ µs/)
  expect(out + err).not.toMatch(/[\u001b\r]/)
  const shown = await cli.run(['show', 'last'])
  expect(shown.out).toContain('three sizes')
  expect(shown.out).toContain(results)
})

test('says once why there is no energy where the device has no counter', async () => {
  const { err, out } = await new Cli().run([...sweep(3, 'steady'), '--energy'])
  expect(err).toContain('opscope: No energy per call: This backend cannot read an energy counter. (3 of 3 cases)\n')
  expect(err.match(/No energy/g)).toHaveLength(1)
  expect(out).not.toContain('No energy')
})

test('real CPU kernels run through the measurement process', async () => {
  const cli = new Cli()
  const devices = await cli.json<Device[]>('list', 'devices', '--backends', 'cpu')
  expect(devices.map((device) => [device.id, device.available.ok])).toEqual([['cpu', true]])
  const { rows } = await cli.json<RunJson>('run', '--ops', 'add', '--sizes', '1000', '--backends', 'cpu', '--impls', 'scalar', '--modes', 'hot', '--preset', 'quick')
  expect(rows.map((row) => [row.case.impl, row.status])).toEqual([['scalar', 'ok']])
})

test('real kernels that compete on a noisy host are measured in rounds, and the session says first to compare speedups', async () => {
  const cli = new Cli()
  const noise = { OPSCOPE_TEST_NOISE: '1' }
  const devices = JSON.parse((await cli.run(['list', 'devices', '--backends', 'cpu', '--json'], noise)).out) as Device[]
  const levels = devices[0]!.impls.filter(({ id, available }) => available.ok && ['scalar', 'avx2', 'neon'].includes(id)).map(({ id }) => id)
  const { status, out, err } = await cli.run(['run', '--ops', 'add,exp', '--sizes', '1000', '--backends', 'cpu', '--impls', levels.join(','), '--threads', '1', '--modes', 'hot', '--preset', 'quick'], noise)
  expect(status).toBe(0)
  expect(err).toMatch(/in interleaved rounds \(noisy host: CPU contention/)
  expect(out.trim().split('\n\n')[1]).toMatch(/^Noisy host: compare speedups, not times\. \d of 4 times are graded B or C/)
  const { results } = JSON.parse((await cli.run(['export', 'last'])).out) as SessionFile
  expect(results.map((result) => [result.case.op, result.case.impl, result.status, (result.rounds?.numbers.length ?? 0) > 20]).sort()).toEqual(['add', 'exp'].flatMap((op) => levels.map((impl) => [op, impl, 'ok', true])).sort())
})

test('a sweep is repeated as often and by the rule that was asked for', async () => {
  const cli = new Cli()
  expect((await cli.run(sweep(2, 'steady', '--repeats', '3', '--rule', 'fixed-count=20'))).status).toBe(0)
  const file = JSON.parse((await cli.run(['export', 'last'])).out) as SessionFile
  expect(file.results.map((result) => [result.case.params['n'], result.run, result.samplesNs.length])).toEqual([0, 1, 2].flatMap((run) => [[64, run, 20], [65, run, 20]]))
})

test('a self-check prints the noise of a device, keeps it, and puts it into later sessions', async () => {
  const cli = new Cli()
  const checked = await cli.run(['self-check', '--backends', 'fake', '--pairs', '4', '--json'], { OPSCOPE_TEST_REAL_TIME: '1' })
  const floors = JSON.parse(checked.out) as NoiseFloor[]
  expect(floors).toMatchObject([{ device: 'fake:0', pairs: 4, falseVerdicts: 0 }])
  const [session] = await cli.json<SessionSummary[]>('sessions')
  expect(session).toMatchObject({ id: floors[0]!.sessionId, state: 'done', about: { kind: 'self-check' } })
  expect(session!.results).toBe(session!.planned)
  await cli.run(sweep(1, 'steady'))
  const file = JSON.parse((await cli.run(['export', 'last'])).out) as SessionFile
  expect(file.environment.noiseFloors).toEqual(floors)
})

test('ceilings are measured, and listed later with their intervals and dates', async () => {
  const cli = new Cli()
  expect((await cli.run(['ceilings', '--list'])).out).toBe('No ceilings are known; "opscope ceilings" measures them.\n')
  expect((await cli.run(['ceilings', '--backends', 'fake'])).status).toBe(0)
  const known = await cli.json<Omit<Ceiling, 'result'>[]>('ceilings', '--list')
  expect(known.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['copy', 'launch:hot', 'launch:cold', 'copy:262144']))
  const { out } = await cli.run(['ceilings', '--list'])
  expect(out).toMatch(/^device +name +ceiling +measured +95 % CI ± +when/)
  expect(out).toMatch(/fake:0 +Scripted device +Copy bandwidth +[\d.]+ GB\/s +<?±[\d.]+ % +\d{4}-\d\d-\d\d \d\d:\d\d/)
  expect(out).toMatch(/Launch, back to back +[\d.]+ µs/)
  expect(out).toMatch(/Copy bandwidth by working set\nworking set +fake:0\n +256 KiB +[\d.]+ GB\/s/)
})

test('a case that computes wrong, fails, or ends its process costs that case alone and gives status 1', async () => {
  const cli = new Cli()
  const { status, out, err } = await cli.run(sweep(1, 'noop,oom,crash,exit,steady'))
  expect(status).toBe(1)
  const line = (impl: string) => out.split('\n').find((text) => text.includes(` ${impl} `)) ?? ''
  expect(line('noop')).toMatch(/verification failed/)
  expect(line('oom')).toMatch(/failed +The device has 1 GiB free/)
  expect(line('crash')).toMatch(/crashed +the measurement process ended: killed by SIGSEGV/)
  expect(line('exit')).toMatch(/crashed +the measurement process ended: exited with status 3/)
  expect(line('steady')).toMatch(/[ABC]$/)
  expect(err).toContain('5 cases in')
})

test('a case that hangs is ended, replaced and the rest is measured', async () => {
  const cli = new Cli()
  const { status, out } = await cli.run(sweep(1, 'hang,steady'), { OPSCOPE_TEST_SILENCE_MS: '2000' })
  expect(status).toBe(1)
  expect(out).toMatch(/ hang .* timed out +no progress for/)
  expect(out).toMatch(/ steady .* [ABC]\n/)
})

test.each([
  [['run', '--ops', 'sofmax'], /unknown operation "sofmax"\. Did you mean "softmax"\? Choose from: .*layer_norm/],
  [['run', '--backends', 'gpu'], /unknown backend "gpu"\. .*Choose from: cpu, cuda, fake, webgpu/],
  [['run', '--preset', 'fast'], /Choose from: quick, standard, thorough/],
  [['run', '--ops', 'sum:axis=middle'], /unknown axis of sum "middle"\. Choose from: all, last, first/],
  [['run', '--ops', 'add', '--sizes', 'vector=12..'], /vector sizes .*\n {2}12\.\.\n +\^/],
  [['run', '--backends', 'fake', '--impls', 'stady'], /Did you mean "steady"/],
  [['run', '--ci', 'narrow'], /--ci narrow is not understood; expected a share such as 0\.5% or 0\.005/],
  [['run', '--ci', '0'], /--ci 0 is not understood; expected a share such as 0\.5% or 0\.005/],
  [['run', '--rule', 'fixed-count=0'], /--rule fixed-count=0 is not understood; expected relative-ci, fixed-count=100 or fixed-time=0\.5s/],
  [['run', '--rule', 'fixed-time'], /--rule fixed-time is not understood; expected relative-ci, fixed-count=100 or fixed-time=0\.5s/],
  [['run', '--repeats', '0'], /--repeats 0 is not understood; expected a whole number from 1 to 50/],
  [['self-check', '--pairs', '3'], /expected a whole number from 4 to 1000/],
  [['run', '--colour', 'red'], /unknown option '--colour'/],
  [['list', 'op'], /Did you mean "ops"/],
  [['exprot', 'last'], /unknown command "exprot"\. Did you mean "export"/],
  [['show', 'nothing'], /no session yet/],
  [['import', '/nowhere/x.json'], /cannot read \/nowhere\/x\.json/],
])('%j is refused with status 2 and the way out', async (args, message) => {
  const { status, out, err } = await new Cli().run(args)
  expect(err).toMatch(message)
  expect(out).toBe('')
  expect(status).toBe(2)
})

test('a backend that was asked for and cannot be had is told, and is a failure', async () => {
  const cli = new Cli()
  const both = await cli.run(['run', '--ops', 'add', '--sizes', '64', '--backends', 'fake,webgpu', '--modes', 'hot', '--preset', 'quick'])
  expect(both.err).toContain('left out: webgpu: Electron is left out of this test')
  expect(both.out).toContain('steady')
  expect(both.status).toBe(1)
})

test('export and import give the identical session, and CSV goes to a file or stdout', async () => {
  const [here, there] = [new Cli(), new Cli()]
  await here.run(sweep(2, 'steady,nan', '--name', 'round trip'))
  const file = join(here.folder, 'a.json')
  expect((await here.run(['export', 'round trip', '--out', file])).status).toBe(0)
  const imported = await there.run(['import', file])
  expect(imported.out).toMatch(/^Imported "round trip": 4 results/)
  const again = await there.run(['export', 'last', '--format', 'json'])
  expect(again.out).toBe(readFileSync(file, 'utf8'))

  const csv = await there.run(['export', 'last', '--format', 'csv', '--out', '-'])
  expect(csv.out.split('\n')[0]).toMatch(/^(?=.*\bop\b)(?=.*median_ns).*,/)
  expect(csv.out.trim().split('\n')).toHaveLength(5)
})

test('a damaged file is refused whole', async () => {
  const cli = new Cli()
  await cli.run(sweep(1, 'steady'))
  const good = JSON.parse((await cli.run(['export', 'last'])).out) as SessionFile
  const path = join(cli.folder, 'bad.json')
  writeFileSync(path, JSON.stringify({ ...good, results: [{ ...good.results[0], wallMs: 'long' }] }))
  const { status, err } = await cli.run(['import', path])
  expect(status).toBe(1)
  expect(err).toMatch(/bad\.json: .*wallMs.*nothing of it was imported/s)
  expect(await cli.json<SessionSummary[]>('sessions')).toHaveLength(1)
})

test('compare tells which session is slower', async () => {
  const cli = new Cli()
  await cli.run(sweep(2, 'steady', '--name', 'base'))
  await cli.run(sweep(2, 'steady', '--name', 'twice'), { OPSCOPE_TEST_FACTOR: '2' })
  const comparison = await cli.json<Comparison>('compare', 'base', 'twice')
  expect(comparison.rows.map((row) => row.cells[1]?.verdict)).toEqual(['slower', 'slower'])
  const { out, status } = await cli.run(['compare', 'base', 'twice'])
  expect(status).toBe(0)
  expect(out).toMatch(/add 64 f32 fake steady hot .* 0\.(?:49|50)\dx .*▼ slower/)
  expect((await cli.run(['compare', 'base'])).status).toBe(2)
})

test('compare --by sets the cases of one session side by side, and --more resolves what is unclear', async () => {
  const cli = new Cli()
  await cli.run(sweep(1, 'steady,third-slow', '--name', 'sides', '--rule', 'fixed-count=12'))
  const sides = (...more: string[]) => ['compare', 'last', '--by', 'impl', '--baseline', 'fake third-slow', ...more]
  const table = await cli.run(['compare', 'sides', '--by', 'impl', '--threshold', '95%'])
  expect(table.status).toBe(0)
  expect(table.out).toMatch(/^A: fake steady in sides .*\nB: fake third-slow\n[^]* = same/)
  expect(table.out).toContain('threshold: differences below 95.0 % count as none')

  // Of twelve samples four are long whatever the draw, so their interval leaves open what more samples decide.
  const before = await cli.json<Comparison>(...sides())
  expect(before.sessions.map(({ value }) => value)).toEqual(['fake third-slow', 'fake steady'])
  expect(before.threshold).toBe(0.01)
  expect(before.rows[0]!.cells[1]).toMatchObject({ verdict: 'ambiguous' })
  const more = await cli.run(sides('--resolve', '--json'), { OPSCOPE_TEST_REAL_TIME: '1' })
  expect(more.err).toContain('opscope: measuring 1 unclear pair with interleaved A/B/B/A blocks')
  const after = JSON.parse(more.out) as Comparison
  expect(after.rows[0]!.cells[1]!.quads).toBeGreaterThanOrEqual(6)
  expect(after.rows[0]!.cells[1]!.verdict).toBe('same')
  // What was measured interleaved belongs to the session it adds to, also when it is the last.
  expect(await cli.json<Comparison>(...sides())).toEqual(after)

  const status = async (...args: string[]) => (await cli.run(['compare', ...args])).status
  expect(await status('sides', '--by', 'colour')).toBe(2)
  expect(await status('sides', '--by', 'impl', '--baseline', 'cuda kernel')).toBe(2)
  expect(await status('sides', '--by', 'impl', '--threshold', 'much')).toBe(2)
  expect(await status('sides', 'sides', '--resolve')).toBe(2)
})

test('Ctrl+C keeps what is measured and resume measures the rest', async () => {
  const cli = new Cli()
  const running = cli.start(sweep(4, 'steady,slow', '--name', 'stopped'))
  await running.says('add 64 f32 fake:0 slow')
  running.child.kill('SIGINT')
  const stopped = await running.ended
  expect(stopped.status).toBe(130)
  expect(stopped.err).toContain('go on with: opscope resume')
  const [before] = await cli.json<SessionSummary[]>('sessions')
  expect(before).toMatchObject({ state: 'stopped', planned: 8 })
  expect(before!.results).toBeGreaterThanOrEqual(2)
  expect(before!.results).toBeLessThan(8)

  expect((await cli.run(['resume', 'stopped'])).status).toBe(0)
  expect(await cli.json<SessionSummary[]>('sessions')).toMatchObject([{ id: before!.id, state: 'done', results: 8 }])
  expect((await cli.run(['resume', 'stopped'])).err).toContain('nothing to resume')
})

test('kill -9 in the middle loses at most the running case, and resume measures the rest', async () => {
  const cli = new Cli()
  const running = cli.start(sweep(6, 'slow', '--name', 'killed'))
  await running.says('add 65 f32 fake:0 slow')
  running.child.kill('SIGKILL')
  expect((await running.ended).signal).toBe('SIGKILL')
  const told = (await running.ended).err.match(/^add \d+ f32 fake:0 slow/gm)!.length
  const { session, rows } = await cli.json<{ session: SessionSummary; rows: Row[] }>('show', 'killed')
  expect(session.state).toBe('interrupted')
  // A row is stored before it is told.
  expect(rows.length).toBeGreaterThanOrEqual(told)
  expect(rows.every((row) => row.status === 'ok')).toBe(true)
  expect((await cli.run(['resume', 'killed'])).status).toBe(0)
  const after = await cli.json<RunJson>('show', 'killed')
  expect(after.rows.map((row) => row.case.params['n'])).toEqual([64, 65, 66, 67, 68, 69])
  expect(after.rows.slice(0, rows.length).map((row) => row.id)).toEqual(rows.map((row) => row.id))
})

/** Whether a process lives; one that nobody has waited for yet is none. */
const lives = (pid: string) => existsSync(`/proc/${pid}/status`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))

test.runIf(process.platform === 'linux')('a command line that is killed while it measures WebGPU leaves no process behind', async () => {
  const electron = electronBinary()
  if ('reason' in electron) throw new Error(electron.reason)
  const running = new Cli().start(['run', '--ops', 'add', '--sizes', 'vector=2^10..2^16', '--backends', 'webgpu', '--modes', 'hot', '--preset', 'quick'], { OPSCOPE_ELECTRON: electron.path })
  await running.says('add 1Ki f32 webgpu:0')
  const { pid } = running.child
  const started = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  expect(started.filter((id) => readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(HOST_FLAG))).toHaveLength(1)
  running.child.kill('SIGKILL')
  await running.ended
  await expect.poll(() => started.filter(lives), { timeout: 60_000 }).toEqual([])
})
