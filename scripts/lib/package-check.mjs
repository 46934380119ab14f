/**
 * Checks a folder that npm run package made. Run with Node 24 once the packages are installed:
 * node package-check.mjs PROGRAM [--test]
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { FuseState, FuseV1Options, getCurrentFuseWire } from '@electron/fuses'
import { hasDisplay, sandboxSwitches, startXvfb } from './display.mjs'
import { at } from './paths.mjs'
import { SetupError, main, say } from './steps.mjs'

/** Fuses of a release; a test build has `EnableNodeCliInspectArguments` on, for Playwright. */
const FUSES = { RunAsNode: false, EnableNodeOptionsEnvironmentVariable: false, EnableNodeCliInspectArguments: false, GrantFileProtocolExtraPrivileges: false, EnableEmbeddedAsarIntegrityValidation: true, OnlyLoadAppFromAsar: true }
const SESSION = at('test', 'fixtures', 'formats', 'json', 'import', 'version-1.json')
const START_MS = 60_000
const LOOK_MS = 250

async function checkFuses(program, test) {
  // On macOS the fuses lie in a framework, which the package finds from the bundle.
  const wire = await getCurrentFuseWire(process.platform === 'darwin' ? resolve(dirname(program), '..', '..') : program)
  for (const [name, wanted] of Object.entries(FUSES)) {
    const expected = test && name === 'EnableNodeCliInspectArguments' ? true : wanted
    const found = wire[FuseV1Options[name]]
    if (found !== (expected ? FuseState.ENABLE : FuseState.DISABLE)) throw new SetupError(`the fuse ${name} of ${program} should be ${expected ? 'on' : 'off'}`)
  }
}

function start(program, args, env) {
  const child = spawn(program, [...sandboxSwitches(), ...args], { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] })
  let stderr = ''
  child.stderr.on('data', (chunk) => (stderr = (stderr + chunk).slice(-4000)))
  const ended = new Promise((done) => {
    child.on('error', (error) => done(error.message))
    child.on('close', (code, signal) => done(code ?? signal))
  })
  return { child, ended, stderr: () => stderr }
}

/** The value `work` resolves to, or undefined after START_MS. */
function within(work) {
  let timer
  return Promise.race([work, new Promise((done) => (timer = setTimeout(done, START_MS)))]).finally(() => clearTimeout(timer))
}

function sessionsIn(history) {
  if (!existsSync(history)) return 0
  try {
    const database = new DatabaseSync(history, { readOnly: true })
    try {
      return database.prepare('select count(*) as n from sessions').get().n
    } finally {
      database.close()
    }
  } catch {
    // Being made.
    return 0
  }
}

/** Starts the app with a session's file and waits until its history holds the session. */
async function checkStart(program, folder, env) {
  const { child, ended, stderr } = start(program, [SESSION], env)
  let gone
  void ended.then((status) => (gone = status))
  for (const end = Date.now() + START_MS; sessionsIn(join(folder, 'history.sqlite')) === 0; await new Promise((done) => setTimeout(done, LOOK_MS))) {
    if (gone !== undefined) throw new SetupError(`the packed app ended (${gone}) instead of opening a session`, stderr())
    if (Date.now() < end) continue
    child.kill('SIGKILL')
    throw new SetupError(`the packed app did not open a session's file within ${START_MS / 1000} s`, stderr())
  }
  child.kill()
  if ((await within(ended)) === undefined) {
    child.kill('SIGKILL')
    throw new SetupError('the packed app did not quit when asked to', stderr())
  }
}

/** A release must not open itself to another program. */
async function checkRefusal(program, env) {
  const { child, ended, stderr } = start(program, ['--remote-debugging-port=0'], env)
  const status = await within(ended)
  child.kill('SIGKILL')
  if (status !== 2 || /DevTools listening/.test(stderr())) throw new SetupError(`the packed app takes --remote-debugging-port (status ${status ?? 'still running'}, expected 2)`, stderr())
}

/**
 * Reads the fuses back, starts the packed program on a data folder of its own with a session's file, and sees that a
 * release refuses a debugger.
 * @param {string} program
 * @param {{ test: boolean }} options whether it is a test build
 * @throws {SetupError}
 */
async function checkPackage(program, { test }) {
  await checkFuses(program, test)
  let display
  if (!hasDisplay()) {
    try {
      display = await startXvfb()
    } catch (error) {
      return say(`opscope: the packed app was not started: there is no display (${error.message})`)
    }
  }
  const folder = mkdtempSync(join(tmpdir(), 'opscope-package-'))
  try {
    const env = { OPSCOPE_DATA_DIR: folder, OPSCOPE_WEBGPU: 'software', ...(display ? { DISPLAY: display.display } : {}) }
    await checkStart(program, folder, env)
    if (!test) await checkRefusal(program, env)
  } finally {
    display?.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}

await main(async () => {
  const [program, ...flags] = process.argv.slice(2)
  await checkPackage(program, { test: flags.includes('--test') })
})
