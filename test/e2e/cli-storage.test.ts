import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { SessionFile } from '@core/session/types'
import { Cli, sweep } from './cli'
import { APP_FOLDER } from './launch'

/** Runs a shell script with mounts of its own, where the system allows that. */
const inMounts = (script: string, env: NodeJS.ProcessEnv = {}) => spawnSync('unshare', ['--map-root-user', '--mount', 'sh', '-euc', script], { encoding: 'utf8', env: { ...process.env, ...env } })
const canMount = inMounts('mount -t tmpfs none /mnt').status === 0

/** A data folder with one session, as a disk of its own holds it: read-only, or without a free byte. */
async function stored() {
  const cli = new Cli()
  expect((await cli.run(sweep(3, 'steady', '--name', 'kept'))).status).toBe(0)
  const opscope = `"${process.execPath}" "${join(APP_FOLDER, 'out/main/cli.js')}"`
  return { cli, on: (disk: string, command: string) => inMounts(`${disk}\n${opscope} ${command}`, { OPSCOPE_DATA_DIR: cli.folder, OPSCOPE_TEST_BACKEND: '1', OPSCOPE_PYTHON_ONLY: '', OPSCOPE_ELECTRON: '' }) }
}

const READ_ONLY = 'mount --bind "$OPSCOPE_DATA_DIR" "$OPSCOPE_DATA_DIR"\nmount -o remount,bind,ro "$OPSCOPE_DATA_DIR"'
const FULL = 'disk=$(mktemp -d)\nmount -t tmpfs -o size=16m none "$disk"\ncp "$OPSCOPE_DATA_DIR"/history.sqlite "$disk"\nexport OPSCOPE_DATA_DIR="$disk"\ndd if=/dev/zero of="$disk/filler" bs=4k 2>/dev/null || true'

describe.runIf(canMount)('a data folder that cannot be written', () => {
  it.each([['read-only', READ_ONLY, /can be read but not written: that place can only be read\. Make the file and its folder writable, or set OPSCOPE_DATA_DIR/], ['full', FULL, /can be read but not written: the disk is full\. Free some space, or set OPSCOPE_DATA_DIR/]])('is read where it is %s, with path, reason and remedy', async (_what, disk, notice) => {
    const { on } = await stored()
    for (const command of ['sessions', 'show last', 'export last --format csv', 'history check', 'history list', 'ceilings --list', 'show last --findings']) {
      const { status, stderr } = on(disk, command)
      expect([command, status, stderr]).toEqual([command, 0, expect.stringMatching(notice)])
      expect(stderr).toMatch(/history\.sqlite/)
    }
    const run = on(disk, sweep(2, 'steady').join(' '))
    expect([run.status, run.stderr]).toEqual([1, expect.stringMatching(notice)])
  })
})

describe.runIf(canMount)('a run', () => {
  it('on a disk that fills up exits with 1, and what was not stored is in a file', async () => {
    const { cli } = await stored()
    const folder = mkdtempSync(join(tmpdir(), 'opscope-full-'))
    const args = sweep(200, 'steady').join(' ')
    const { status, stderr } = inMounts(`disk=$(mktemp -d)\nmount -t tmpfs -o size=600k none "$disk"\nexport OPSCOPE_DATA_DIR="$disk"\ncd ${folder}\n"${process.execPath}" "${join(APP_FOLDER, 'out/main/cli.js')}" ${args}`, { OPSCOPE_TEST_BACKEND: '1', OPSCOPE_PYTHON_ONLY: '', OPSCOPE_ELECTRON: '' })
    expect([status, stderr]).toEqual([1, expect.stringMatching(/could not be written: the disk is full\. Free some space/)])
    const [saved] = readdirSync(folder)
    const file = JSON.parse(readFileSync(join(folder, saved!), 'utf8')) as SessionFile
    expect(file.results.length).toBeGreaterThan(0)
    expect((await cli.run(['import', join(folder, saved!)])).status).toBe(0)
  })
})

it.runIf(process.platform !== 'win32')('a run whose data folder vanishes exits with 1, says so, and loses nothing that was measured', async () => {
  const cli = new Cli()
  const cwd = mkdtempSync(join(tmpdir(), 'opscope-vanished-'))
  const running = cli.start(sweep(400, 'steady'), {}, cwd)
  await running.says('add 65')
  // Files may come into it while it is removed.
  rmSync(cli.folder, { recursive: true, maxRetries: 5, retryDelay: 50 })
  const { status, err } = await running.ended
  expect([status, err]).toEqual([1, expect.stringMatching(/history\.sqlite is gone[^]*not in the history; the whole session was saved as /)])
  const [saved] = readdirSync(cwd)
  const imported = await new Cli().run(['import', join(cwd, saved!)])
  expect(imported).toMatchObject({ status: 0, out: expect.stringMatching(/Imported .* [1-9]\d* results/) as string })
})

it.runIf(process.platform === 'linux')('places that are none are told at once: no folder can be made, no home, no folder for temporary files', async () => {
  const cli = new Cli()
  const nowhere = await cli.run(['sessions'], { OPSCOPE_DATA_DIR: '/proc/x' })
  expect(nowhere).toMatchObject({ status: 1, err: expect.stringMatching(/cannot use the data folder \/proc\/x/) as string })
  const before = readdirSync(APP_FOLDER)
  expect((await cli.run(['list', 'formats'], { HOME: '', OPSCOPE_DATA_DIR: '', XDG_DATA_HOME: cli.folder })).status).toBe(0)
  expect(readdirSync(APP_FOLDER)).toEqual(before)
  expect((await cli.run(sweep(2, 'steady'), { TMPDIR: '/nowhere/at/all' })).status).toBe(0)
})
