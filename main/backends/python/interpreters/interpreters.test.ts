import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { Probe } from '../protocol'
import { bestOf, Catalogue, ProbeCache, type Found, type Surroundings } from '.'
import { probe, identityOf, stampOf } from './probe'
import { findCandidates, fromLauncher, pythonIn } from './sources'

const root = mkdtempSync(join(tmpdir(), 'opscope-interpreters-'))
afterAll(() => rmSync(root, { recursive: true }))
let folder: string
let count = 0
beforeEach(() => mkdirSync((folder = join(root, `case-${(count += 1)}`)), { recursive: true }))

const at = (...parts: string[]) => join(folder, ...parts)
function file(path: string, text = ''): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}
/** An environment whose interpreter is a script that does this. */
function environment(path: string, script = 'exit 0', cfg?: string): string {
  const python = file(join(path, 'bin', 'python3'), `#!/bin/sh\n${script}\n`)
  chmodSync(python, 0o755)
  mkdirSync(join(path, 'lib', 'python3.12', 'site-packages'), { recursive: true })
  if (cfg !== undefined) file(join(path, 'pyvenv.cfg'), cfg)
  return python
}
const around = (change: Partial<Surroundings> = {}): Surroundings => ({ env: {}, home: at('home'), cwd: at('work'), platform: 'linux', named: [], ...change })
/** Only what lies in the folder of the test: the machine has Pythons too. */
const found = (surroundings: Surroundings) => findCandidates(surroundings, identityOf).filter(({ path }) => path.startsWith(folder)).map(({ path, source }) => `${source}: ${path.slice(folder.length + 1)}`)

describe('finding interpreters', () => {
  it('looks where users have them, the named and the active first', () => {
    for (const path of ['active', 'work/.venv', 'conda', 'bin-only', 'home/.virtualenvs/b', 'home/.virtualenvs/a', 'miniforge/envs/ml', 'home/.pyenv/versions/3.9.1', 'home/.pyenv/versions/3.12.0', 'mine']) environment(at(...path.split('/')))
    file(at('home', '.conda', 'environments.txt'), `${at('miniforge', 'envs', 'ml')}\n${at('gone')}\n`)
    const env = { VIRTUAL_ENV: at('active'), CONDA_PREFIX: at('conda'), PATH: ['/nowhere', at('bin-only', 'bin')].join(delimiter) }
    expect(found(around({ env, named: [at('mine'), at('missing', 'python')] }))).toEqual([
      'settings: mine/bin/python3', 'settings: missing/python', 'virtual environment: active/bin/python3', 'virtual environment: work/.venv/bin/python3', 'conda: conda/bin/python3', 'PATH: bin-only/bin/python3',
      'virtual environment: home/.virtualenvs/a/bin/python3', 'virtual environment: home/.virtualenvs/b/bin/python3', 'conda: miniforge/envs/ml/bin/python3', 'pyenv: home/.pyenv/versions/3.12.0/bin/python3', 'pyenv: home/.pyenv/versions/3.9.1/bin/python3',
    ])
  })

  it('lists each once, but an environment apart from the Python it was made with', () => {
    const base = environment(at('base'))
    symlinkSync(base, at('base', 'bin', 'python3.12'))
    environment(at('venv'), '', `home = ${at('base', 'bin')}\n`)
    rmSync(at('venv', 'bin', 'python3'))
    symlinkSync(base, at('venv', 'bin', 'python3'))
    expect(found(around({ env: { VIRTUAL_ENV: at('venv'), PATH: [at('venv', 'bin'), at('base', 'bin')].join(delimiter) }, named: [base, at('base', 'bin', 'python3.12')] }))).toEqual(['settings: base/bin/python3', 'virtual environment: venv/bin/python3'])
  })

  it('passes over shims and the stub of the Windows store, and reads the launcher', () => {
    file(at('pyenv', 'shims', 'python3'))
    file(at('WindowsApps', 'python.exe'))
    const real = file(at('Python312', 'python.exe'))
    expect(found(around({ env: { PATH: at('pyenv', 'shims') } }))).toEqual([])
    expect(found(around({ platform: 'win32', env: { Path: [at('WindowsApps'), at('Python312')].join(delimiter) } }))).toEqual(['PATH: Python312/python.exe'])
    expect(pythonIn(at('Python312'), around({ platform: 'win32' }))).toBe(real)
    expect(fromLauncher(' -V:3.12 *        C:\\Program Files\\Python312\\python.exe\r\n -V:3.9           C:\\Python39\\python.exe\r\nno installed Pythons found')).toEqual([
      { path: 'C:\\Program Files\\Python312\\python.exe', source: 'system' },
      { path: 'C:\\Python39\\python.exe', source: 'system' },
    ])
  })
})

describe('the stamp of an interpreter', () => {
  it('changes when a package comes or goes, also in the Python that an environment is made with', () => {
    environment(at('base'))
    const venv = environment(at('venv'), '', `home = ${at('base', 'bin')}\n`)
    const stamp = () => stampOf(venv, at('home'))
    const before = stamp()
    expect(stamp()).toBe(before)
    utimesSync(at('venv', 'lib', 'python3.12', 'site-packages'), 1, 1)
    const second = stamp()
    expect(second).not.toBe(before)
    utimesSync(at('base', 'lib', 'python3.12', 'site-packages'), 2, 2)
    expect(stamp()).not.toBe(second)
  })
})

const said = (change: Partial<Probe> = {}): Probe => ({ python: '3.12.0', prefix: '/env', packages: [], cpu: { ok: true }, cuda: { ok: false, reason: 'no GPU' }, impls: { cpu: [], cuda: [] }, ...change })
const says = (probed: Probe) => `echo '${JSON.stringify(probed)}'`

describe('a probe', () => {
  const ask = (script: string, limitMs = 10_000) => probe({ program: environment(at('p'), script), args: ['probe.py'], env: process.env }, limitMs)

  it('is the object that was printed, whatever was printed before', async () => {
    expect(await ask(`echo 'Welcome to {numpy}'; ${says(said())}`)).toEqual({ probe: said() })
  })

  it.each([
    ['hangs', 'sleep 30', /did not say within 0.5 s/, 500],
    ['prints garbage', 'echo hello; echo "{not json"', /did not answer as a Python does/],
    ['prints another object', 'echo "{}"', /did not answer as a Python does/],
    ['floods', 'yes', /printed more/],
    ['fails', 'echo "Traceback" >&2; echo "ImportError: no libffi" >&2; exit 3', /ended with status 3 .*: ImportError: no libffi/],
    ['dies', 'kill -SEGV $$', /was killed \(SIGSEGV\)/],
    ['is Python 2', 'echo "SyntaxError: invalid syntax" >&2; exit 1', /it is too old: Python 3.8/],
    ['is Python 3.7', 'echo "too old" >&2; exit 1', /it is too old: Python 3.8/],
  ])('of a program that %s is a reason', async (_what, script, problem, limitMs?: number) => {
    expect(await ask(script, limitMs)).toEqual({ problem: expect.stringMatching(problem) })
  })

  it('of a program that is not there is a reason', async () => {
    expect(await probe({ program: at('gone'), args: [], env: {} }, 1000)).toEqual({ problem: expect.stringMatching(/could not be started: .*ENOENT/) })
  })
})

describe('the catalogue', () => {
  const catalogue = (paths: readonly string[], limitMs = 10_000) =>
    new Catalogue({ surroundings: around(), only: paths, command: (path) => ({ program: path, args: [], env: { ...process.env, LOG: at('log') } }), cache: new ProbeCache(at('data', 'pythons.json')), conditions: () => Promise.resolve('driver 1'), limitMs })
  const asked = () => readFileSync(at('log'), 'utf8').split('\n').length - 1
  const logging = (probed: Probe) => `echo x >> $LOG; ${says(probed)}`

  it('asks an interpreter once, this start and the next, until its packages change', async () => {
    const python = environment(at('ml'), logging(said({ prefix: at('ml') })))
    const first = catalogue([python])
    expect(await first.list()).toMatchObject([{ path: python, name: 'ml', probed: { probe: { python: '3.12.0' } } }])
    await first.list()
    await catalogue([python]).list()
    expect(asked()).toBe(1)
    utimesSync(at('ml', 'lib', 'python3.12', 'site-packages'), 1, 1)
    await catalogue([python]).list()
    expect(asked()).toBe(2)
  })

  it('begins anew when its file is damaged, and works where it cannot be written', async () => {
    const python = environment(at('ml'), logging(said()))
    file(at('data', 'pythons.json'), '{"a": 1')
    await catalogue([python]).list()
    rmSync(at('data'), { recursive: true })
    file(at('data'), 'not a folder')
    expect(await catalogue([python]).list()).toMatchObject([{ probed: { probe: {} } }])
    expect(asked()).toBe(2)
  })

  it('lists one that hangs, garbled or missing ones with the reason beside the others, and does not wait for it again', async () => {
    const hanging = environment(at('hanging'), 'echo x >> $LOG; sleep 30')
    const good = environment(at('good'), says(said({ prefix: at('good') })))
    const list = catalogue([hanging, good, at('missing')], 4000)
    expect(await list.list()).toMatchObject([{ probed: { problem: expect.stringMatching(/within 4 s|has not finished/) } }, { probed: { probe: {} } }, { probed: { problem: `there is no program at ${at('missing')}` } }])
    await list.list()
    expect(asked()).toBe(1)
  })

  it('names environments by their folder, by the project where that says nothing, and each differently', async () => {
    const paths = ['Über Netz/.venv', 'a/venv', 'b/a', 'envs/ML 2'].map((path) => environment(at(...path.split('/')), says(said({ prefix: at(...path.split('/')) }))))
    expect((await catalogue(paths).list()).map(({ name }) => name)).toEqual(['ber-netz', 'a', 'a-2', 'ml-2'])
  })

  it('takes two programs of one environment for one', async () => {
    const paths = ['x', 'y'].map((path) => environment(at(path), says(said())))
    expect((await catalogue(paths).list()).map(({ path }) => path)).toEqual([paths[0]])
  })
})

it('the best is the one that can do most, of equals the first', () => {
  const one = (path: string, probed: Partial<Probe> | undefined): Found => ({ path, source: 'PATH', name: path, probed: probed ? { probe: said(probed) } : { problem: 'it hangs' } })
  const numpy = { packages: [{ name: 'numpy', version: '2.0' }] }
  const torch = { packages: [{ name: 'numpy', version: '2.0' }, { name: 'torch', version: '2.5' }] }
  const best = (...found: Found[]) => bestOf(found)?.path
  expect(best(one('a', undefined), one('b', numpy), one('c', torch), one('d', torch))).toBe('c')
  expect(best(one('a', torch), one('b', { ...torch, cuda: { ok: true } }))).toBe('b')
  expect(best(one('a', { packages: [{ name: 'torch', version: '2.5', problem: 'broken' }] }), one('b', numpy))).toBe('b')
  expect(best()).toBeUndefined()
})
