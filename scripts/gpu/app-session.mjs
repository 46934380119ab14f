/**
 * Measures one session in the real app on a machine with an NVIDIA GPU:
 *   node scripts/gpu/app-session.mjs OUT_FOLDER [plan=app-session|python-session] [preset=standard] [seconds=N]
 * Needs a display, Electron (ELECTRON_OVERRIDE_DIST_PATH or the one set-up fetched), a built app, and playwright-core.
 * With `seconds` the sweep is stopped after so long, and the same command with the same OPSCOPE_DATA_DIR goes on with it.
 * At its end it writes PLAN.json.gz (the session's own export, with machine and date inside), PLAN.md (its medians as a
 * table) and screenshots in both themes. OPSCOPE_COMMIT names the commit where there is no git.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { _electron } from 'playwright-core'
import { sandboxSwitches } from '../lib/display.mjs'
import { electronBinary } from '../lib/electron.mjs'
import { PLANS } from './session-plans.mjs'

const root = resolve(import.meta.dirname, '../..')
const [folder, ...options] = process.argv.slice(2)
const { plan: name = 'app-session', preset = 'standard', seconds = 'Infinity' } = Object.fromEntries(options.map((option) => option.split('=')))
const plan = PLANS[name]
if (!folder || !plan) throw new Error(`expected: app-session.mjs OUT_FOLDER [plan=${Object.keys(PLANS).join('|')}] [preset=standard] [seconds=N]`)
const out = resolve(folder)
mkdirSync(out, { recursive: true })
const endsAt = Date.now() + Number(seconds) * 1000

const electron = electronBinary()
if ('reason' in electron) throw new Error(electron.reason)
const dataDir = process.env.OPSCOPE_DATA_DIR ?? mkdtempSync(join(tmpdir(), 'opscope-gpu-'))
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
  for (let last = -1, stopping = false; ; await new Promise((done) => setTimeout(done, 500))) {
    const state = await call('run:state', undefined)
    if (state.done !== last && state.done % 25 === 0) console.log(`${new Date().toISOString().slice(11, 19)} ${what}: ${state.done}/${state.total}, ${state.failures} failed, ${state.current ?? ''}`)
    last = state.done
    if (state.phase === 'idle') return state
    if (!stopping && Date.now() > endsAt) {
      stopping = true
      await call('run:stop', undefined)
    }
  }
}

const cli = (...words) => execFileSync(process.execPath, [join(root, 'out/main/cli.js'), ...words], { env: { ...process.env, OPSCOPE_DATA_DIR: dataDir }, encoding: 'utf8', maxBuffer: 2 ** 28 })

/** Ceilings, a short self-check so that the session carries noise floors, and the sweep. Gives the session's id. */
async function begin() {
  const devices = await call('devices:list', { refresh: false })
  for (const device of devices) console.log(device.id, device.name, device.available.ok ? device.warnings.join(' ') || 'ready' : device.available.reason)
  const usable = devices.filter((device) => device.available.ok && plan.impls(device).length > 0)
  const own = usable.filter((device) => device.backend !== 'python').map((device) => device.id)
  await call('ceilings:measure', { devices: own })
  await finish('ceilings')
  const gpus = own.filter((id) => id !== 'cpu')
  if (gpus.length > 0) {
    await call('self-check:run', { devices: gpus, pairs: 5 })
    await finish('self-check')
  }
  const targets = usable.map((device) => ({
    backend: device.backend,
    device: device.id,
    impls: plan.impls(device),
    ...(device.threads.length ? { threads: [device.threads.at(-1)] } : {}),
  }))
  const { sessionId } = await call('run:start', { spec: { ...plan.sweep, targets, preset }, name: `${plan.title} on ${[...new Set(usable.map((device) => device.name))].join(', ')}` })
  return sessionId
}

const marker = join(dataDir, `${name}.session`)
const sessionId = existsSync(marker) ? (await call('run:resume-session', { sessionId: readFileSync(marker, 'utf8') })).sessionId : await begin()
writeFileSync(marker, sessionId)
const state = await finish('sweep')
console.log('ended', JSON.stringify(state))
if (Date.now() > endsAt) {
  await app.close()
  console.log('not at its end yet: run the same command again')
  process.exit(0)
}

const commit = process.env.OPSCOPE_COMMIT ?? (existsSync(join(root, '.git')) ? execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim() : 'unknown')
const file = join(dataDir, 'session.json')
cli('export', sessionId, '--format', 'json', '--out', file)
writeFileSync(join(out, `${name}.json.gz`), gzipSync(readFileSync(file), { level: 9 }))
writeFileSync(join(out, `${name}.md`), `Opscope at commit ${commit}, ${new Date().toISOString()}, preset ${preset}.\n\n\`\`\`\n${cli('show', sessionId)}\`\`\`\n\nCeilings\n\n\`\`\`\n${cli('ceilings', '--list')}\`\`\`\n`)
console.log(`written to ${out}`)

const pick = (label, value) => page.getByLabel(label).selectOption(value ?? '')
await page.setViewportSize({ width: 1440, height: 900 })
await page.getByRole('link', { name: 'History' }).click()
await page.getByText(plan.title).first().dblclick()
for (const theme of ['light', 'dark']) {
  await page.emulateMedia({ colorScheme: theme })
  for (const picture of plan.pictures) {
    try {
      await page.getByTestId(`chart-tab-${picture.tab}`).click()
      await pick('Shown operations', picture.op)
      await pick('Shown dtypes', picture.dtype)
      await pick('Shown modes', picture.mode)
    } catch (error) {
      console.error(`${picture.file}: ${error.message}`)
    }
    await page.waitForTimeout(1500)
    await page.screenshot({ path: join(out, `${picture.file}-${theme}.png`) })
  }
}
await page.getByTitle(/^Devices \(/).click()
await page.waitForTimeout(1500)
await page.screenshot({ path: join(out, `${name}-devices.png`) })
await app.close()
