import { spawn, spawnSync } from 'node:child_process'
import { SetupError } from './steps.mjs'

/** Whether a window can be shown here. */
export const hasDisplay = () => process.platform !== 'linux' || Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY)

/** Switches that Electron needs to start here at all: none, except where Chromium's sandbox cannot work. */
export function sandboxSwitches() {
  if (process.platform !== 'linux') return []
  // Root, and kernels or containers that refuse user namespaces.
  const works = process.getuid() !== 0 && spawnSync('unshare', ['--user', 'true']).status === 0
  return works ? [] : ['--no-sandbox']
}

/**
 * Starts a virtual X display that picks its own free number.
 * @returns {Promise<{ display: string, stop: () => void }>}
 */
export function startXvfb() {
  return new Promise((done, fail) => {
    const child = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1440x900x24', '-nolisten', 'tcp', '-noreset'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] })
    const timer = setTimeout(() => { child.kill(); fail(new SetupError('Xvfb did not start within 20 s')) }, 20_000)
    child.on('error', (error) => { clearTimeout(timer); fail(new SetupError(`Xvfb could not be started: ${error.message}`)) })
    child.on('exit', (code) => { clearTimeout(timer); fail(new SetupError(`Xvfb ended with status ${code}`)) })
    let text = ''
    child.stdio[3].on('data', (chunk) => {
      text += chunk
      if (!text.includes('\n')) return
      clearTimeout(timer)
      const stop = () => child.kill()
      process.on('exit', stop)
      child.unref()
      child.stdio[3].unref?.()
      done({ display: `:${text.trim()}`, stop })
    })
  })
}
