import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ElectronApplication, Locator, Page } from 'playwright-core'
import type { OpscopeApi } from '@core/ipc'
import type { SweepSpec } from '@core/session/sweep-spec'
import type { Settings } from '@core/settings'

/** What a user does in the window, in terms of what they see. */

/** `add` at these vector sizes on the scripted backend: what most tests of the window run. */
export const scripted = (impls: readonly string[], vector = '64, 128, 256'): SweepSpec => ({
  ops: [{ op: 'add' }], sizes: { vector, matrix: '64', gemm: '64' }, dtypes: ['f32'], modes: ['hot'], preset: 'quick',
  targets: [{ backend: 'fake', device: 'fake:0', impls: [...impls] }],
})

/** Leaves these picks, and more settings, in a data folder, as the last start of the app would have. */
export function leavePicks(dataDir: string, sweep: SweepSpec, more: Partial<Settings> = {}): void {
  mkdirSync(dataDir, { recursive: true })
  writeFileSync(join(dataDir, 'settings.json'), JSON.stringify({ sweep, ...more }))
}

export const statusBar = (page: Page): Locator => page.getByRole('contentinfo', { name: 'Run progress' })
export const grid = (page: Page): Locator => page.getByRole('grid', { name: 'Results' })
export const sessions = (page: Page): Locator => page.getByRole('grid', { name: 'Sessions' })
export const messages = (page: Page): Locator => page.getByRole('region', { name: 'Messages' })
export const details = (page: Page): Locator => page.getByRole('complementary', { name: 'Details of the selected row' })
export const view = (page: Page, name: string): Promise<void> => page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name }).click()

/** Puts away every message on show, such as what is worth knowing about a run. */
export async function dismissMessages(page: Page): Promise<void> {
  const dismiss = messages(page).getByRole('button', { name: 'Dismiss' })
  // In the page itself: a message may go away on its own between finding and clicking it.
  while ((await dismiss.count()) > 0) await dismiss.evaluateAll((buttons) => buttons.forEach((button) => (button as HTMLElement).click()))
}

/** Rows of a grid or table that hold data. */
export const dataRows = (table: Locator): Locator => table.getByRole('row').filter({ has: table.page().locator('[role=gridcell], [role=cell]') })

/** The results table with all of its columns, also those it had no room for: one record for each row in view, by column id. */
export async function tableRows(page: Page): Promise<Record<string, string>[]> {
  for (;;) {
    // Read in one step: columns may be left out at any time, as soon as something beside the table takes their room.
    const rows = await grid(page).evaluate((table) => {
      if (document.querySelector('[data-testid=columns-left-out][aria-pressed=false]') !== null) return null
      const ids = [...table.querySelectorAll<HTMLElement>('[data-sort]')].map((head) => head.dataset['sort']!)
      const rows = [...table.querySelectorAll<HTMLElement>('[data-row]')].sort((a, b) => Number(a.dataset['row']) - Number(b.dataset['row']))
      const text = (cell: Element) => [...cell.childNodes].filter((node) => !(node instanceof HTMLElement && node.ariaHidden === 'true')).map((node) => node.textContent).join('').trim()
      return rows.map((row) => Object.fromEntries([...row.querySelectorAll('[role=gridcell]')].map((cell, i) => [ids[i]!, text(cell)])))
    })
    if (rows !== null) return rows
    await page.locator('[data-testid=columns-left-out]').evaluateAll((buttons) => buttons.filter((button) => button.ariaPressed === 'false').forEach((button) => (button as HTMLElement).click()))
  }
}

/** Number of rows that the results table says it has. */
export const rowCount = async (page: Page): Promise<number> => Number(await grid(page).getAttribute('aria-rowcount')) - 1

/** Longest that a view may take to show what it was asked for. */
const SHOW_MS = 60_000

/** Asks again and again until the answer is yes; what it throws counts as no. For what `expect.poll` is too late for. */
async function until(what: string, holds: () => Promise<boolean>, limitMs = SHOW_MS): Promise<void> {
  for (const end = Date.now() + limitMs; !(await holds().catch(() => false)); await new Promise((done) => setTimeout(done, 50)))
    if (Date.now() > end) throw new Error(`${what} did not happen within ${limitMs / 1000} s`)
}

/** Answers every question of main by this button from now on; `counts.asked` in main is how many there were. */
export const answerMessages = (app: ElectronApplication, response: number): Promise<void> =>
  app.evaluate(({ dialog }, button) => {
    const counts = { asked: 0 }
    Object.assign(globalThis, { counts })
    dialog.showMessageBox = (() => {
      counts.asked++
      return Promise.resolve({ response: button, checkboxChecked: false })
    }) as typeof dialog.showMessageBox
  }, response)

/** Leaves exactly these implementations of a backend picked. */
export async function pickImpls(page: Page, backend: string, wanted: readonly string[]): Promise<void> {
  const device = page.getByRole('list', { name: 'Backends and devices' }).getByRole('listitem').filter({ has: page.getByRole('checkbox', { name: new RegExp(`^${backend} `) }) })
  // Devices are listed once they have been found.
  for (const impl of wanted) await device.getByRole('button', { name: impl, exact: true }).waitFor()
  const chips = () => device.locator('button[aria-pressed]').all()
  for (const chip of await chips()) {
    const picked = (await chip.getAttribute('aria-pressed')) === 'true'
    if (picked !== wanted.includes((await chip.innerText()).trim())) await chip.click()
  }
  await until(`picking ${wanted.join()}`, async () => {
    const picked = device.locator('button[aria-pressed=true]')
    return (await picked.allInnerTexts()).map((text) => text.trim()).sort().join() === [...wanted].sort().join()
  })
}

/** Shows a chart, whether its tab has room or stands in the menu. */
export async function showChart(page: Page, id: string): Promise<void> {
  const tab = page.getByTestId(`chart-tab-${id}`)
  const inMenu = page.getByTestId(`chart-menu-${id}`)
  // As the room for them changes, tabs go into the menu and come out of it, also between a look and a click.
  await until(`showing the chart ${id}`, async () => {
    if ((await tab.getAttribute('aria-selected')) === 'true') return true
    const target = (await tab.isVisible()) ? tab : (await inMenu.isVisible()) ? inMenu : page.getByTestId('chart-tabs-more')
    await target.click({ timeout: 5000 })
    return false
  })
}

/**
 * Presses a button at the first sign of it within a part of the page that says something. In the page itself: what it stops, such as
 * a short run, may have ended on a busy machine between two steps of the test. Asked for before what brings the button; resolves once it is pressed.
 */
export function pressOnceShown(page: Page, part: string, says: RegExp, name: string): Promise<void> {
  return page.evaluate(({ part, says, name }) => new Promise<void>((done) => {
    const look = () => {
      const place = document.querySelector(part)
      if (!place || !new RegExp(says).test(place.textContent)) return
      const button = [...place.querySelectorAll('button')].find((one) => one.textContent.trim() === name && !one.disabled)
      if (!button) return
      watch.disconnect()
      button.click()
      done()
    }
    const watch = new MutationObserver(look)
    watch.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })
    look()
  }), { part, says: says.source, name })
}

/** The session made last, as main knows it; undefined when there is none. */
const newestSession = (page: Page): Promise<string | undefined> =>
  page.evaluate(async () => {
    const reply = await (Reflect.get(window, 'opscope') as OpscopeApi).invoke('sessions:list', { search: '', deleted: false })
    return reply.ok ? reply.value[0]?.id : undefined
  })

/** Longest from a start of a run to its end. */
const RUN_MS = 200_000

/** Presses Run and waits until the status bar tells that the run has ended; returns its sentence. */
export const runToEnd = (page: Page): Promise<string> => endOf(page, () => page.getByRole('button', { name: /^Run/ }).click())

/** Starts a run and waits until the status bar tells that it has ended; returns its sentence, and not that of the run before. */
export async function endOf(page: Page, start: () => Promise<unknown>): Promise<string> {
  const before = await newestSession(page)
  await start()
  // With the new session, what the bar says of the run before is gone.
  await until('the start of a run', async () => (await newestSession(page)) !== before)
  return ended(page)
}

/** What the status bar says when the run that is going on has ended. After another run it may still say what became of that: see `endOf`. */
export async function ended(page: Page): Promise<string> {
  const sentence = statusBar(page).getByText(/^(Finished|Stopped):/)
  await sentence.waitFor({ timeout: RUN_MS })
  return (await sentence.textContent())!
}

/** How many colours the chart in view uses, axes and text aside from its background: 0 when nothing was drawn. */
export function coloursDrawn(page: Page): Promise<number> {
  return page.getByTestId('chart').first().evaluate((host) => {
    const colours = new Set<number>()
    for (const canvas of host.querySelectorAll('canvas')) {
      const pixels = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height).data
      for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3]! > 250) colours.add((pixels[i]! << 16) | (pixels[i + 1]! << 8) | pixels[i + 2]!)
    }
    return colours.size
  })
}
