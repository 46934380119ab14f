/**
 * Measures every operation on CUDA, WebGPU and CPU in one session of the real app, on a machine with an NVIDIA GPU:
 *   node scripts/gpu/app-session.mjs OUT_FOLDER [preset]
 * Needs a display, Electron (ELECTRON_OVERRIDE_DIST_PATH or the one set-up fetched), a built app, and playwright-core.
 * Writes app-session.json.gz (the session's own export, with machine, date and commit inside or beside it), app-session.md
 * (its medians as a table) and screenshots in both themes. OPSCOPE_COMMIT names the commit where there is no git.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { _electron } from 'playwright-core'
import { sandboxSwitches } from '../lib/display.mjs'
import { electronBinary } from '../lib/electron.mjs'

const root = resolve(import.meta.dirname, '../..')
const out = resolve(process.argv[2] ?? join(root, 'test/bench/results'))
const preset = process.argv[3] ?? 'standard'
mkdirSync(out, { recursive: true })

const electron = electronBinary()
if ('reason' in electron) throw new Error(electron.reason)
const dataDir = mkdtempSync(join(tmpdir(), 'opscope-gpu-'))
const app = await _electron.launch({
  executablePath: electron.path,
  args: [...sandboxSwitches(), root],
  colorScheme: null,
  env: { ...process.env, OPSCOPE_DATA_DIR: dataDir },
})
await app.firstWindow()
const isVisible = (page) => new URL(page.url()).pathname === '/index.html'
const page = app.windows().find(isVisible) ?? (await app.waitForEvent('window', isVisible))
page.on('pageerror', (error) => console.error('page:', error))

/** One request to main, as the page makes it. */
async function call(channel, request) {
  const reply = await page.evaluate(([c, r]) => globalThis.opscope.invoke(c, r), [channel, request])
  if (!reply.ok) throw new Error(`${channel}: ${reply.error.message}`)
  return reply.value
}

async function finish(what) {
  for (let last = -1; ; await new Promise((done) => setTimeout(done, 500))) {
    const state = await call('run:state', undefined)
    if (state.done !== last && state.done % 50 === 0) console.log(`${what}: ${state.done}/${state.total}, ${state.failures} failed, ${state.current ?? ''}`)
    last = state.done
    if (state.phase === 'idle') return state
  }
}

const devices = await call('devices:list', { refresh: false })
for (const device of devices) console.log(device.id, device.name, device.available.ok ? device.warnings.join(' ') || 'ready' : device.available.reason)
const usable = devices.filter((device) => device.available.ok)
await call('ceilings:measure', { devices: [] })
await finish('ceilings')
// A short self-check, so that the session carries the noise floors of the devices it was made on.
const gpus = usable.filter((device) => device.backend !== 'cpu').map((device) => device.id)
if (gpus.length > 0) {
  await call('self-check:run', { devices: gpus, pairs: 5 })
  await finish('self-check')
}

const targets = usable.map((device) => ({
  backend: device.backend,
  device: device.id,
  impls: [device.impls.find((impl) => impl.preferred && impl.available.ok)?.id ?? device.impls[0].id],
  ...(device.threads.length ? { threads: [device.threads.at(-1)] } : {}),
}))
const spec = {
  ops: ['copy', 'add', 'mul', 'exp', 'gelu', 'sum', 'softmax', 'layer_norm', 'matmul'].map((op) => (op === 'sum' ? { op, variants: { axis: ['all', 'last', 'first'] } } : { op })),
  sizes: { vector: '2^16..2^26 x4', matrix: '1024x1024, 4096x4096, 16384x4096', gemm: '512, 1024, 2048, 4096' },
  dtypes: ['f32', 'f16', 'bf16', 'tf32'],
  targets,
  modes: ['cold', 'hot'],
  preset,
}
const { sessionId } = await call('run:start', { spec, name: `All operations on ${[...new Set(usable.map((device) => device.name))].join(', ')}` })
const state = await finish('sweep')
console.log('ended', JSON.stringify(state))

await page.setViewportSize({ width: 1440, height: 900 })
for (const theme of ['light', 'dark']) {
  await page.emulateMedia({ colorScheme: theme })
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByText('All operations on').first().dblclick()
  await page.getByTestId('chart-tab-throughput').click()
  await page.getByLabel('Shown operations').selectOption('softmax')
  await page.getByLabel('Shown modes').selectOption('cold')
  await page.waitForTimeout(1500)
  await page.screenshot({ path: join(out, `session-${theme}.png`) })
  await page.getByTestId('chart-tab-roofline').click()
  await page.getByLabel('Shown operations').selectOption('')
  await page.getByLabel('Shown dtypes').selectOption('f32')
  await page.waitForTimeout(1500)
  await page.screenshot({ path: join(out, `roofline-${theme}.png`) })
}
await page.emulateMedia({ colorScheme: 'light' })
await page.getByTitle(/^Devices \(/).click()
await page.waitForTimeout(1500)
await page.screenshot({ path: join(out, 'devices-light.png') })
await app.close()

const cli = (...words) => execFileSync(process.execPath, [join(root, 'out/main/cli.js'), ...words], { env: { ...process.env, OPSCOPE_DATA_DIR: dataDir }, encoding: 'utf8', maxBuffer: 2 ** 28 })
const file = join(dataDir, 'session.json')
cli('export', sessionId, '--format', 'json', '--out', file)
writeFileSync(join(out, 'app-session.json.gz'), gzipSync(readFileSync(file), { level: 9 }))
const commit = process.env.OPSCOPE_COMMIT ?? (existsSync(join(root, '.git')) ? execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim() : 'unknown')
writeFileSync(join(out, 'app-session.md'), `Opscope at commit ${commit}, ${new Date().toISOString()}, preset ${preset}.\n\n\`\`\`\n${cli('show', sessionId)}\`\`\`\n\nCeilings\n\n\`\`\`\n${cli('ceilings', '--list')}\`\`\`\n`)
console.log(`written to ${out}`)
