import { rmSync } from 'node:fs'
import { app } from 'electron'
import { harden } from '../../app/harden'
import { serveAppPages } from '../../app/pages'
import type { ToHost } from '@core/measure/protocol'
import { makeTemporaryFolder } from '../../process-owner'
import { openHostWindow } from './window'

/**
 * Measures WebGPU for the command line that started this Electron: no visible window, and the protocol over Node's IPC
 * channel. Call before Electron is ready, after the scheme and the switches. Ends with the parent.
 */
export function runWebgpuHost(): void {
  const send = process.send?.bind(process)
  if (!send) {
    process.stderr.write('opscope: this mode is for the command line, which starts it by itself\n')
    return app.exit(2)
  }
  // Chromium's files of a few minutes, apart from those of an app that may be running.
  const userData = makeTemporaryFolder('opscope-webgpu-host')
  app.setPath('userData', userData)
  app.on('quit', () => rmSync(userData, { recursive: true, force: true }))
  app.dock?.hide()
  // Without a parent there is nobody to measure for.
  process.on('disconnect', () => app.exit(0))
  // Electron would open a dialog, and this process would wait for it. A parent that was killed closes our stderr, so writing to it may fail too.
  process.stderr.on('error', () => app.exit(1))
  process.on('uncaughtException', (error) => {
    process.stderr.write(`${error.stack ?? error.message}\n`, () => app.exit(1))
  })

  const start = async () => {
    await app.whenReady()
    harden()
    serveAppPages()
    const page = await openHostWindow()
    page.onExit((reason) => {
      process.stderr.write(`the page ${reason}\n`)
      app.exit(1)
    })
    page.onMessage((message) => void send(message, undefined, undefined, () => undefined))
    // The page parses what it receives.
    process.on('message', (message) => page.post(message as ToHost))
  }
  start().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    app.exit(1)
  })
}
