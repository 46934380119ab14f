// Takes the pictures of the README: node scripts/pictures.mjs [FOLDER] [WIDTHxHEIGHT ...] [--only=PATTERN]. Needs a display and a build.
// Each view is taken with the recorded sessions of test/bench/results in both themes; the default is docs at 1440x900.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { launch } from '../test/e2e/launch.ts'

const only = process.argv.find((word) => word.startsWith('--only='))?.slice('--only='.length)
const [folder = 'docs', ...sizes] = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const results = resolve(import.meta.dirname, '../test/bench/results')
const dataDir = mkdtempSync(join(tmpdir(), 'opscope-pictures-'))
const files = ['app', 'python'].map((name) => {
  const path = join(dataDir, `${name}.opscope.json`)
  writeFileSync(path, gunzipSync(readFileSync(join(results, `${name}-session.json.gz`))))
  return path
})
mkdirSync(folder, { recursive: true })

const { app, page, close } = await launch({ dataDir, args: files, env: { OPSCOPE_WEBGPU: 'hardware' } })
const settle = () => page.waitForTimeout(2500)
const row = (name) => page.getByRole('grid', { name: 'Sessions' }).getByRole('row').filter({ hasText: name })
const view = (name) => page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name }).click()
/** Opens a recorded session. */
async function session(name) {
  await view('History')
  await row(name).first().dblclick()
  await page.getByTestId('chart-tab-roofline').waitFor()
  await page.getByText(/^[\d,]+ rows/).first().waitFor()
}
/** Shows a chart, whether its tab has room or stands in the menu. */
async function chart(id) {
  const tab = page.getByTestId(`chart-tab-${id}`)
  if (await tab.isVisible()) return tab.click()
  await page.getByTestId('chart-tabs-more').click()
  await page.getByTestId(`chart-menu-${id}`).click()
}
const CHARTS = ['time', 'distribution', 'heat-map', 'crossover', 'scaling', 'parallel']
const VIEWS = {
  'view-session': () => session('All operations'),
  'view-throughput': async () => (await session('Beside PyTorch'), await page.getByTestId('chart-tab-throughput').click()),
  'view-fastest': async () => (await session('Beside PyTorch'), await page.getByRole('button', { name: 'By operation' }).first().click()),
  'view-roofline': async () => (await session('All operations'), await page.getByTestId('chart-tab-roofline').click()),
  'view-speedup': async () => (await session('Beside PyTorch'), await page.getByTestId('chart-tab-speedup').click()),
  'view-compare': async () => (await session('Beside PyTorch'), await page.getByRole('button', { name: 'Compare inside this session' }).click(), await page.getByRole('table', { name: 'Comparison by case' }).waitFor({ timeout: 120_000 })),
  'view-compare-open': async () => (await VIEWS['view-compare'](), await page.getByRole('button', { name: 'Expand all' }).first().click()),
  'view-compare-four': async () => {
    await view('History')
    const ids = await page.evaluate(async () => (await globalThis.opscope.invoke('sessions:list', { search: '', deleted: false })).value.map(({ id }) => id))
    // The same two sessions by dtype have four sides and more.
    await page.evaluate((query) => (globalThis.location.hash = `#/compare?${query}`), ids.length > 3 ? `ids=${ids.slice(0, 4).join(',')}` : `within=${ids[0]}&axis=impl`)
    await page.getByRole('table', { name: 'Comparison by case' }).waitFor({ timeout: 120_000 })
  },
  'view-findings': async () => (await session('Beside PyTorch'), await page.getByTestId('findings-button').click()),
  ...Object.fromEntries(CHARTS.flatMap((id) => [['app', 'All operations'], ['python', 'Beside PyTorch']].map(([key, name]) => [`chart-${id}-${key}`, async () => (await session(name), await chart(id))]))),
  'view-case': async () => {
    await session('All operations')
    await page.getByRole('grid', { name: 'Results' }).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Control+Shift+H')
  },
  'view-details': async () => {
    await session('All operations')
    await page.getByRole('grid', { name: 'Results' }).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
  },
  'view-licences': () => page.evaluate(() => (globalThis.location.hash = '#/licences')),
  'view-fleet': () => page.evaluate(() => (globalThis.location.hash = '#/fleet')),
  'view-capture': () => page.evaluate(() => (globalThis.location.hash = '#/capture')),
  'view-history': () => view('History'),
  'view-devices': () => view('Devices'),
  'view-run': () => view('Run'),
  'view-suites': () => page.evaluate(() => (globalThis.location.hash = '#/suites')),
  'view-guide': () => view('Guide'),
  'view-settings': () => view('Settings'),
}

await row('Beside PyTorch').or(page.getByRole('button', { name: 'Compare inside this session' })).first().waitFor({ timeout: 120_000 })
for (const size of sizes.length ? sizes : ['1440x900']) {
  const [width, height] = size.split('x').map(Number)
  await app.evaluate(({ BrowserWindow }, [w, h]) => BrowserWindow.getAllWindows().find((one) => one.isVisible())?.setContentSize(w, h), [width, height])
  for (const theme of ['light', 'dark']) {
    await page.evaluate((wanted) => globalThis.opscope.invoke('settings:set', { theme: wanted }), theme)
    await page.reload()
    await settle()
    for (const [name, go] of Object.entries(VIEWS)) {
      if (only ? !new RegExp(only).test(name) : !sizes.length && !/session|roofline|compare$/.test(name)) continue
      await go()
      await settle()
      const path = join(folder, `${name}${sizes.length ? `-${size}` : ''}${theme === 'dark' ? '-dark' : ''}.png`)
      await page.screenshot({ path })
      process.stdout.write(`${path}\n`)
    }
  }
}
await close()
