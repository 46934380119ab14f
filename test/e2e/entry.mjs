/**
 * What the tests start instead of the app's own entry: the same app, held before it opens a window until the test has
 * connected. Playwright can miss a navigation that is under way while it attaches, and then waits for it for ever.
 */
import { subscribe } from 'node:diagnostics_channel'
import { app } from 'electron'

// Where the app's main process connects to, for the test that it does not.
globalThis.connections = []
subscribe('net.client.socket', ({ socket }) => socket.once('lookup', (_error, address, _family, host) => globalThis.connections.push(host ?? address)).once('connect', () => globalThis.connections.push(socket.remoteAddress ?? 'a local socket')))

const ready = app.whenReady()
let release
const released = new Promise((resolve) => (release = resolve))
app.whenReady = () => released.then(() => ready)
globalThis.releaseApp = release

await import(new URL('out/main/index.js', process.env.OPSCOPE_TEST_ENTRY_FOLDER).href)
