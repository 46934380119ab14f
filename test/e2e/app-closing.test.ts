import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launch, type Launched } from './launch'
import { dataRows, leavePicks, rowCount, scripted, sessions, view } from './ui'

/** Closing the window, importing and deleting while a run is in progress. */
let dataDir: string
let opened: Launched
const start = async () => (opened = await launch({ dataDir, env: { OPSCOPE_TEST_BACKEND: '1' } }))
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'opscope-closing-'))
})
afterAll(async () => {
  await opened.close().catch(() => undefined)
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

/** The next questions are answered with this button; what was asked is kept. */
const answer = (response: number) =>
  opened.app.evaluate(({ dialog }, button) => {
    const asked: unknown[] = []
    Object.assign(globalThis, { asked })
    dialog.showMessageBox = ((...args: unknown[]) => {
      const { message, buttons } = args.at(-1) as { message: string; buttons: string[] }
      asked.push({ message, buttons })
      return Promise.resolve({ response: button, checkboxChecked: false })
    }) as typeof dialog.showMessageBox
  }, response)
const asked = () => opened.app.evaluate(() => Reflect.get(globalThis, 'asked') as { message: string; buttons: string[] }[])
const closeWindow = () => opened.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().find((window) => window.isVisible())!.close())

it('in a run the window asks before it closes, and stays on Cancel', async () => {
  leavePicks(dataDir, scripted(['slow'], Array.from({ length: 60 }, (_, i) => 64 * (i + 1)).join(', ')))
  const { page } = await start()
  await page.getByRole('button', { name: /^Run/ }).click()
  await expect.poll(() => rowCount(page), { timeout: 60_000 }).toBeGreaterThanOrEqual(1)
  await answer(2)
  await closeWindow()
  await expect.poll(asked).toEqual([{ message: 'A run is in progress', buttons: ['Stop and keep results', 'Continue in the background', 'Cancel'] }])
  expect(await page.title()).toContain('Opscope')
})

it('what would disturb the run or take its session away is refused with the reason', async () => {
  const { page } = opened
  await view(page, 'History')
  await dataRows(sessions(page)).first().click()
  await page.getByText('1 of 1 selected').waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'Delete', exact: true }).isDisabled()).toBe(true)
  await page.keyboard.press('Delete')
  await page.getByText(/is being measured\. Stop the run first\. Nothing was deleted\./).waitFor()
  await page.getByRole('button', { name: /^Import/ }).first().click()
  await page.getByText(/reading files would disturb its measurements/).waitFor()
  await expect.poll(() => dataRows(sessions(page)).count()).toBe(1)
})

it('stopped by closing, the run is offered at the next start and goes on from there', async () => {
  await answer(0)
  const gone = new Promise((resolve) => opened.app.process().once('exit', resolve))
  await closeWindow()
  await gone
  const { page } = await start()
  const note = page.getByRole('status').filter({ hasText: 'was cut off after' })
  const kept = Number(/after (\d+) of 60 cases/.exec(await note.innerText())?.[1])
  expect(kept).toBeGreaterThan(0)
  await note.getByRole('button', { name: 'Resume' }).click()
  await expect.poll(() => rowCount(page), { timeout: 60_000 }).toBeGreaterThan(kept)
})
