import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { SELF_CHECK } from '@core/compare'
import type { OpscopeApi } from '@core/ipc'
import type { SessionFile } from '@core/session/types'
import { Cli } from './cli'
import { launch, type Launched } from './launch'
import { ended, leavePicks, messages, runToEnd, scripted, statusBar, view } from './ui'

const dataDir = mkdtempSync(join(tmpdir(), 'opscope-noise-'))
let opened: Launched
let page: Page

beforeAll(async () => {
  leavePicks(dataDir, scripted(['steady'], '64'))
  opened = await launch({ dataDir, env: { OPSCOPE_TEST_BACKEND: '1', OPSCOPE_TEST_REAL_TIME: '1' } })
  page = opened.page
})
afterAll(async () => {
  await opened.close()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

const card = () => page.getByRole('article', { name: /^fake / })
const note = () => card().getByTestId('noise-floor')

describe('the noise floor of a device', () => {
  it('says before how long that takes, and keeps nothing when it is stopped', async () => {
    await view(page, 'Devices')
    await note().getByText(/^Not measured yet\..*It takes about 2 min\.$/).waitFor()
    await card().getByRole('button', { name: 'Measure noise floor' }).click()
    // Four blocks a quad.
    await statusBar(page).getByText(new RegExp(`^Running \\d+/${SELF_CHECK.pairs * SELF_CHECK.quads * 4}$`)).waitFor()
    await statusBar(page).getByRole('button', { name: 'Stop' }).click()
    expect(await ended(page)).toMatch(/^Stopped/)
    await messages(page).getByText('The self-check was stopped, so no noise floor is kept.').waitFor()
    await note().getByText(/^Not measured yet/).waitFor()
  })

  it('has a noise floor afterwards', async () => {
    // As the button does, with the fewest pairs there may be.
    const running = statusBar(page).getByText(/^Running/).waitFor()
    await page.evaluate(() => (Reflect.get(window, 'opscope') as OpscopeApi).invoke('self-check:run', { devices: ['fake:0'], pairs: 4 }))
    await running
    expect(await ended(page)).toMatch(/^Finished/)
    await expect.poll(() => note().innerText()).toMatch(/<?[\d.]+ %\s+smallest detectable difference\s+Typical difference\s+<?[\d.]+ %\s+False verdicts\s+0 of 4 pairs/)
    await card().getByRole('button', { name: 'Measure noise floor again' }).waitFor()
    await note().getByRole('link', { name: 'samples' }).click()
    await page.getByText('self-check', { exact: true }).waitFor()
  })

  it('is published with the sessions made on it from then on', async () => {
    await view(page, 'Run')
    expect(await runToEnd(page)).toBe('Finished: 1 result.')
    await page.getByRole('button', { name: 'Open session' }).click()
    const noise = () => page.getByTestId('session-noise').innerText()
    await expect.poll(noise).toMatch(/Noise floor <?[\d.]+ %/)
    const floor = /Noise floor (<?[\d.]+ %)/.exec(await noise())![1]!
    await page.getByRole('button', { name: 'Environment' }).click()
    await page.getByTestId('environment').getByText(new RegExp(`${floor.replace('.', '\\.')} in 95 % of 4 pairs`)).waitFor()
    await page.keyboard.press('Escape')
    const { environment } = JSON.parse((await new Cli().run(['export', 'last'], { OPSCOPE_DATA_DIR: dataDir })).out) as SessionFile
    expect(environment.noiseFloors).toMatchObject([{ backend: 'fake', device: 'fake:0', pairs: 4, falseVerdicts: 0 }])
    await view(page, 'Devices')
    await note().getByText(floor).first().waitFor()
  })
})

it('no error is written to the console on the way', () => {
  expect(opened.pageErrors).toEqual([])
})
