import { spawn } from 'node:child_process'
import { ROOT, childEnvironment } from './paths.mjs'

/** Ends a script with one sentence for the user; the stack would not help them. */
export class SetupError extends Error {
  /** @param {string} message @param {string} [detail] what the failed program printed, shown below the sentence */
  constructor(message, detail) {
    super(message)
    this.name = 'SetupError'
    this.detail = detail
  }
}

/** Writes one line. On stderr, so that stdout stays free for results and pipes. */
export const say = (line) => process.stderr.write(`${line}\n`)

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`

/** Says what is being done, does it, and says how long it took. Returns what `work` returns. */
export async function step(title, work) {
  const started = Date.now()
  const live = process.stderr.isTTY
  if (live) process.stderr.write(`• ${title} …`)
  try {
    const value = await work()
    if (live) process.stderr.write('\r\x1b[K')
    say(`• ${title}: ${seconds(Date.now() - started)}`)
    return value
  } catch (error) {
    if (live) process.stderr.write('\r\x1b[K')
    say(`• ${title}: failed after ${seconds(Date.now() - started)}`)
    throw error
  }
}

/**
 * Runs a program quietly; its output is shown only when it fails, or on the way with `show`.
 * @returns {Promise<string>} what it wrote to stdout
 * @throws {SetupError} with the last lines of its output when it exits with another status than 0, or after `timeoutMs`
 */
export function run(command, args, { cwd = ROOT, env = {}, show = false, timeoutMs = 0, what = command } = {}) {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { cwd, env: childEnvironment(env), stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'] })
    let out = ''
    let all = ''
    let timedOut = false
    const timer = timeoutMs > 0 ? setTimeout(() => { timedOut = true; child.kill('SIGKILL') }, timeoutMs) : undefined
    child.stdout?.on('data', (chunk) => { out += chunk; all += chunk })
    child.stderr?.on('data', (chunk) => { all += chunk })
    child.on('error', (error) => { clearTimeout(timer); fail(new SetupError(`${what} could not be started: ${error.message}`)) })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (code === 0) return done(out)
      const why = timedOut ? `took longer than ${seconds(timeoutMs)}` : signal ? `was ended by ${signal}` : `exited with status ${code}`
      fail(new SetupError(`${what} ${why}`, all.trim().split('\n').slice(-40).join('\n')))
    })
  })
}

/** Runs a program on this terminal and returns its exit status; ends it with us. */
export function runAttached(command, args, { cwd = ROOT, env = {} } = {}) {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { cwd, env: childEnvironment(env), stdio: 'inherit' })
    const forward = (signal) => child.kill(signal)
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
    for (const signal of signals) process.on(signal, forward)
    child.on('error', (error) => fail(new SetupError(`${command} could not be started: ${error.message}`)))
    child.on('close', (code, signal) => {
      for (const name of signals) process.off(name, forward)
      done(code ?? (signal ? 1 : 0))
    })
  })
}

/** Runs a script's main function; a SetupError is one sentence and exit status 1. */
export async function main(work) {
  try {
    process.exitCode = (await work()) ?? 0
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    if (error.detail) say(error.detail)
    say(`opscope: ${error.message}`)
    process.exitCode = 1
  }
}
