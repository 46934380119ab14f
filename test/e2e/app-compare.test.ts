import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { Cli, sweep } from './cli'
import { launch, type Launched } from './launch'
import { dataRows, dismissMessages, leavePicks, messages, runToEnd, scripted, sessions, statusBar, view } from './ui'

const dataDir = mkdtempSync(join(tmpdir(), 'opscope-compare-'))
let opened: Launched
let page: Page

async function start(env: Record<string, string>): Promise<void> {
  opened = await launch({ dataDir, env: { OPSCOPE_TEST_BACKEND: '1', ...env } })
  page = opened.page
}

beforeAll(async () => {
  leavePicks(dataDir, scripted(['steady', 'zeros']))
  await start({})
  await runToEnd(page)
  await opened.close()
  // Tomorrow everything takes 1.25 times as long.
  await start({ OPSCOPE_TEST_FACTOR: '1.25' })
  await runToEnd(page)
})
afterAll(async () => {
  await opened.close()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

const table = () => page.getByRole('table', { name: 'Comparison by case' })
const groups = () => table().locator('[role=row]:has([aria-expanded])')
const panel = () => page.getByRole('complementary', { name: 'Regressions' })

describe('a comparison of two sessions', () => {
  it('opens with the answer and its plot, from which keyboard and click lead to the rows', async () => {
    await view(page, 'History')
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(2)
    await dataRows(sessions(page)).nth(0).click()
    await dataRows(sessions(page)).nth(1).click({ modifiers: ['Control'] })
    await page.getByRole('button', { name: /to compare them|Compare the selected/ }).click()
    await expect.poll(() => page.getByTestId('comparison-answer').innerText()).toMatch(/is 1\.2\d+x slower than[\s\S]*geometric mean over 3 cases[\s\S]*▲ 0 faster\s*▼ 3 slower/)
    const plot = page.getByRole('group', { name: 'Forest plot' })
    await plot.getByRole('img', { name: /^Forest plot of speedups\./ }).waitFor()
    // All of a short plot is in sight.
    await expect.poll(() => plot.getByTestId('chart').evaluate((chart) => chart.scrollHeight - chart.clientHeight)).toBeLessThanOrEqual(1)
    const selected = () => table().locator('[role=row][aria-selected=true]')
    await plot.getByTestId('chart').focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => selected().count()).toBe(1)
    const first = await selected().innerText()
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => selected().innerText()).not.toBe(first)
    const second = await selected().innerText()
    // Row 3 of the plot: the heading and two cases come before it.
    const box = (await plot.getByTestId('chart').boundingBox())!
    await page.mouse.click(box.x + box.width * 0.55, box.y + 46 + 20 * 3.5)
    await expect.poll(async () => [first, second].includes(await selected().innerText())).toBe(false)
    await page.getByRole('region', { name: 'Details of the comparison' }).getByText('Grades').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('region', { name: 'Speedups' }).getByRole('button', { name: 'Table', exact: true }).click()
    await expect.poll(() => page.getByTestId('chart-data').getByRole('row').count()).toBe(1 + 1 + 3)
    await page.getByRole('region', { name: 'Speedups' }).getByRole('button', { name: 'Table', exact: true }).click()
  })

  it('groups its cases under their geometric mean', async () => {
    await view(page, 'History')
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(2)
    await dataRows(sessions(page)).nth(0).click()
    await dataRows(sessions(page)).nth(1).click({ modifiers: ['Control'] })
    await page.getByRole('button', { name: /to compare them|Compare the selected/ }).click()
    await expect.poll(() => dataRows(table()).count()).toBe(3)
    await page.getByRole('combobox', { name: 'Group by' }).selectOption('op')
    await expect.poll(() => groups().count()).toBe(1)
    await expect.poll(() => groups().innerText()).toMatch(/add\s*3 cases\s*mean of 3\s*0\.(80|79)\dx\s*▼ 3/)
    await groups().getByText('add').click()
    await expect.poll(() => dataRows(table()).count()).toBe(1)
    await groups().getByText('add').click()
  })

  it('lists regressions by effect, and holds an operation to its own threshold', async () => {
    if (!(await panel().isVisible())) await page.getByRole('button', { name: 'Regressions 3' }).click()
    await expect.poll(() => panel().getByRole('listitem').filter({ hasText: '▼ 0.' }).count()).toBe(3)
    await panel().getByRole('button', { name: /^add / }).first().click()
    await page.getByRole('region', { name: 'Details of the comparison' }).getByText('Grades').waitFor()
    await page.keyboard.press('Escape')
    await panel().getByText('Thresholds per operation').click()
    await panel().getByLabel('Threshold of add in percent').fill('40')
    await panel().getByLabel('Threshold of add in percent').press('Tab')
    await panel().getByText('No case is slower by more than its threshold.').waitFor()
    await page.getByRole('combobox', { name: 'Cases to show' }).selectOption('different')
    await page.getByText('No case passes the filter.').waitFor()
    await panel().getByLabel('Threshold of add in percent').fill('')
    await panel().getByLabel('Threshold of add in percent').press('Tab')
    await expect.poll(() => dataRows(table()).count()).toBe(4)
  })

  it('takes a dropped file as a third side, and imports nothing', async () => {
    const file = await new Cli().run(['export', 'last'], { OPSCOPE_DATA_DIR: dataDir })
    expect(file.status).toBe(0)
    const transfer = await page.evaluateHandle((text) => {
      const data = new DataTransfer()
      data.items.add(new File([text], 'nightly.json', { type: 'application/json' }))
      return data
    }, file.out)
    for (const type of ['dragenter', 'dragover']) await page.dispatchEvent('main', type, { dataTransfer: transfer })
    await page.getByText('Drop files to compare them without importing').waitFor()
    await page.dispatchEvent('main', 'drop', { dataTransfer: transfer })
    await page.getByTitle('nightly.json, not imported').waitFor()
    await expect.poll(() => page.getByText("geometric mean over 3 cases").count()).toBe(2)
    await expect.poll(() => statusBar(page).innerText()).toContain('2 sessions')
    await page.getByRole('button', { name: /^Remove .*/ }).last().click()
    await expect.poll(() => page.getByTitle('nightly.json, not imported').count()).toBe(0)
  })

  it('is saved without the names of machines, persons and folders, unless they are kept', async () => {
    const theirs = await new Cli().run(['export', 'last'], { OPSCOPE_DATA_DIR: dataDir })
    const file = JSON.parse(theirs.out) as { session: { name: string }; environment: { host: string } }
    file.environment.host = 'lab-7.example.org'
    file.session.name = 'from /home/alice/runs'
    const transfer = await page.evaluateHandle((text) => {
      const data = new DataTransfer()
      data.items.add(new File([text], 'theirs.json', { type: 'application/json' }))
      return data
    }, JSON.stringify(file))
    await page.dispatchEvent('main', 'drop', { dataTransfer: transfer })
    await page.getByTitle('theirs.json, not imported').waitFor()
    await expect.poll(() => page.getByText("geometric mean over 3 cases").count()).toBe(2)
    const names = /lab-7|alice|\/home/
    for (const [way, name, keep] of [['Save as HTML report…', 'left-out.html', false], ['Save as Markdown…', 'left-out.md', false], ['Save as Markdown…', 'kept.md', true]] as const) {
      const path = join(dataDir, name)
      await opened.app.evaluate(({ dialog }, filePath) => void (dialog.showSaveDialog = (() => Promise.resolve({ canceled: false, filePath })) as typeof dialog.showSaveDialog), path)
      await page.getByRole('button', { name: 'Copy or save' }).click()
      await page.getByRole('button', { name: way }).click()
      const review = page.getByRole('dialog').filter({ hasText: 'These identify the machine or a person' })
      await review.getByText('lab-7.example.org').first().waitFor()
      for (const box of await review.getByRole('checkbox').all()) {
        expect(await box.isChecked()).toBe(false)
        if (keep) await box.check()
      }
      // What identifies a result of ours identifies nobody.
      expect(await review.getByText('Serial numbers').count()).toBe(0)
      await page.getByRole('button', { name: 'Choose where to write…' }).click()
      await messages(page).getByText(`Saved ${name}.`).waitFor()
      await dismissMessages(page)
      const text = readFileSync(path, 'utf8')
      expect(names.test(text)).toBe(keep)
      // On its other side stands this machine.
      expect(/\[host\\?\] in .*\[host\\?\] in /.test(text)).toBe(!keep)
    }
    await page.getByRole('button', { name: /^Remove .*/ }).last().click()
  })

  it('leaves no error on the console', () => {
    expect(opened.pageErrors).toEqual([])
  })
})

describe('opscope compare', () => {
  const cli = new Cli()
  const compare = (...args: string[]) => cli.run(['compare', ...args])
  beforeAll(async () => {
    await cli.run(sweep(3, 'steady', '--name', 'base'))
    await cli.run(sweep(3, 'steady', '--name', 'slow'), { OPSCOPE_TEST_FACTOR: '1.25' })
  })

  it('exits with 3 on a regression and says which, and only then', async () => {
    const failed = await compare('base', 'slow', '--fail-on', 'slower')
    expect(failed.status).toBe(3)
    expect(failed.err).toMatch(/opscope: 3 cases are slower:\n {2}▼ add 6\d f32 fake:0 steady hot: speedup 0\.\d{3}x \(95 % CI 0\.\d+ to 0\.\d+\), threshold 1\.00 %/)
    expect((await compare('base', 'slow')).status).toBe(0)
    expect((await compare('slow', 'base', '--fail-on', 'slower')).status).toBe(0)
    expect((await compare('slow', 'base', '--fail-on', 'slower,faster')).status).toBe(3)
    expect((await compare('base', 'slow', '--fail-on', 'slower', '--per-op-threshold', 'add=40%')).status).toBe(0)
    expect((await compare('base', 'slow', '--fail-on', 'slower', '--per-op-threshold', 'ad=40%')).err).toContain('Did you mean "add"?')
  })

  it('leaves out of reports what names machines and persons, and of anything what --redact names', async () => {
    const path = join(cli.folder, 'theirs.json')
    writeFileSync(path, (await cli.run(['export', 'base'])).out.replace(/"host":"[^"]*"/, '"host":"lab-7.example.org"').replace('"name":"base"', '"name":"base of alice@example.org"'))
    const named = async (...args: string[]) => {
      const { status, out } = await compare(path, 'slow', ...args)
      expect(status).toBe(0)
      return [/lab-7/.test(out), /alice/.test(out)]
    }
    for (const format of ['markdown', 'html']) expect(await named('--format', format)).toEqual([false, false])
    expect(await named('--format', 'html', '--redact', 'none')).toEqual([true, true])
    expect(await named('--format', 'markdown', '--redact', 'user')).toEqual([true, false])
    expect(await named('--json')).toEqual([true, true])
    expect(await named('--json', '--redact', 'host,user')).toEqual([false, false])
    expect(await compare(path, 'slow', '--redact', 'name')).toMatchObject({ status: 2, err: expect.stringContaining('expected all, none or a list of host, user, paths, ids') as string })
  })

  it('takes files beside sessions, and writes Markdown for a pull request', async () => {
    const path = join(cli.folder, 'baseline.json')
    writeFileSync(path, (await cli.run(['export', 'base'])).out)
    const { status, out, err } = await compare(path, 'slow', '--format', 'markdown', '--fail-on', 'slower')
    expect(status).toBe(3)
    expect(err).toContain('3 cases are slower')
    expect(out).toMatch(/^### Benchmark comparison\n\n\*\*slow\*\* is \*\*1\.2\d+x slower\*\* than \*\*base\*\* \(geometric mean over 3 cases, 95 % CI 1\.\d+x to 1\.\d+x\): 0 faster, 3 slower, 0 same, 0 unclear\./)
    expect(out).toContain('#### Regressions (3)')
    expect(out).not.toContain(cli.folder)
    expect(await cli.json<unknown[]>('sessions')).toHaveLength(2)
    expect((await compare(join(cli.folder, 'missing.json'), 'slow')).err).toMatch(/there is no file ".*missing\.json", nor a session of that name/)
  })
})
