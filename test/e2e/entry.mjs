/**
 * What the tests start instead of the app's own entry: the same app, held before it opens a window until the test has
 * connected. Playwright can miss a navigation that is under way while it attaches, and then waits for it for ever.
 */
import { app } from 'electron'

const ready = app.whenReady()
let release
const released = new Promise((resolve) => (release = resolve))
app.whenReady = () => released.then(() => ready)
globalThis.releaseApp = release

await import(new URL('out/main/index.js', process.env.OPSCOPE_TEST_ENTRY_FOLDER).href)
