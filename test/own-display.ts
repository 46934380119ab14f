import { afterAll } from 'vitest'
import { startXvfb } from '../scripts/lib/display.mjs'

/**
 * Gives a test file a virtual X display of its own (Linux): files run side by side, and must share neither focus nor clipboard with
 * each other, nor the screen of whoever runs them.
 */
if (process.platform === 'linux') {
  const screen = await startXvfb()
  process.env['DISPLAY'] = screen.display
  process.env['WAYLAND_DISPLAY'] = ''
  afterAll(() => screen.stop())
}
