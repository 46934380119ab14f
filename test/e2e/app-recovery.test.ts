import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { importSession } from '@core/formats/registry'
import { launch, type Launched } from './launch'
import { dataRows, details, ended, grid, leavePicks, rowCount, runToEnd, scripted, sessions, tableRows, view } from './ui'

let dataDir: string
let opened: Launched
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'opscope-recovery-'))
})
afterEach(async () => {
  await opened.close().catch(() => undefined)
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

const start = async () => (opened = await launch({ dataDir, env: { OPSCOPE_TEST_BACKEND: '1', OPSCOPE_TEST_SILENCE_MS: '2000' } }))

describe('an app that is killed in the middle of a sweep', () => {
  it('offers the rest at the next start, and no more once it is kept as it is', async () => {
    leavePicks(dataDir, scripted(['slow'], Array.from({ length: 8 }, (_, i) => 64 * (i + 1)).join(', ')))
    const first = await start()
    await first.page.getByRole('button', { name: /^Run/ }).click()
    await expect.poll(() => rowCount(first.page), { timeout: 60_000 }).toBeGreaterThanOrEqual(2)
    await first.kill()

    const second = await start()
    const noteOf = ({ page }: Launched) => page.getByRole('status').filter({ hasText: 'was cut off after' })
    await noteOf(second).getByRole('button', { name: 'Keep as is' }).click()
    await expect.poll(() => noteOf(second).count()).toBe(0)
    await second.close()

    const { page } = await start()
    await view(page, 'History')
    const row = dataRows(sessions(page)).first()
    await row.waitFor()
    await view(page, 'Run')
    // The picks are there once the start of the app is over, which is when the rest would be offered.
    await page.getByText('8 cases').waitFor()
    expect(await noteOf(opened).count()).toBe(0)
    await view(page, 'History')
    await row.click()
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await expect.poll(() => page.getByRole('button', { name: 'Resume', exact: true }).isEnabled()).toBe(true)
  })

  it('has every finished result at the next start, and completes the rest when asked', async () => {
    const sizes = Array.from({ length: 8 }, (_, i) => 64 * (i + 1))
    leavePicks(dataDir, scripted(['slow'], sizes.join(', ')))
    const first = await start()
    await first.page.getByRole('button', { name: /^Run/ }).click()
    await expect.poll(() => rowCount(first.page), { timeout: 60_000 }).toBeGreaterThanOrEqual(3)
    const seen = await tableRows(first.page)
    await first.kill()

    const { page, pageErrors } = await start()
    const note = page.getByRole('status').filter({ hasText: 'was cut off after' })
    await note.waitFor()
    const kept = Number(/after (\d+) of 8 cases/.exec(await note.innerText())?.[1])
    expect(kept).toBeGreaterThanOrEqual(seen.length)
    expect(kept).toBeLessThan(8)
    await view(page, 'History')
    const row = dataRows(sessions(page)).filter({ hasText: 'interrupted' })
    await expect.poll(() => row.getByTitle(`interrupted after ${kept} of 8 cases`).count()).toBe(1)
    await row.click()
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await expect.poll(() => page.getByRole('button', { name: 'Resume', exact: true }).isEnabled()).toBe(true)
    await page.keyboard.press('Escape')
    await row.dblclick()
    await expect.poll(() => rowCount(page)).toBe(kept)
    // Columns take the unit that suits all rows: with more rows than were seen, only the times stay as written.
    const times = (some: Record<string, string>[]) => some.map((row) => [row['op'], row['shape'], row['median']])
    await expect.poll(async () => times((await tableRows(page)).slice(0, seen.length))).toEqual(times(seen))

    await view(page, 'Run')
    await note.getByRole('button', { name: 'Resume' }).click()
    expect(await ended(page)).toBe('Finished: 8 results.')
    await expect.poll(() => note.count()).toBe(0)
    await expect.poll(async () => (await tableRows(page)).length).toBe(8)
    const rows = await tableRows(page)
    expect(times(rows.slice(0, seen.length))).toEqual(times(seen))
    expect(rows.map((row) => row['status'])).toEqual(rows.map(() => 'ok'))
    expect(new Set(rows.map((row) => row['shape'])).size).toBe(8)
    await view(page, 'History')
    await expect.poll(async () => (await dataRows(sessions(page)).first().getByRole('gridcell').allInnerTexts()).slice(2, 4)).toEqual(['complete', '8'])
    expect(pageErrors).toEqual([])
  })
})

describe.runIf(process.platform !== 'win32')('a data folder that is removed in the middle of a sweep', () => {
  it('ends the run, and what was measured is offered as a file until it is saved', async () => {
    const sizes = Array.from({ length: 20 }, (_, i) => 64 * (i + 1))
    leavePicks(dataDir, scripted(['slow'], sizes.join(', ')))
    const { app, page } = await start()
    const folder = mkdtempSync(join(tmpdir(), 'opscope-rescue-'))
    try {
      const saved = join(folder, 'saved.opscope.json')
      // Agrees to each question; the first path cannot be written to, then none is chosen, then one that can.
      await app.evaluate(({ dialog }, paths) => {
        const asked: { message: string; detail?: string; buttons?: string[] }[] = []
        const names: (string | undefined)[] = []
        Object.assign(globalThis, { asked, names })
        dialog.showMessageBox = ((...args: unknown[]) => {
          asked.push(args.at(-1) as (typeof asked)[number])
          return Promise.resolve({ response: 1, checkboxChecked: false })
        }) as typeof dialog.showMessageBox
        dialog.showSaveDialog = ((...args: unknown[]) => {
          names.push((args.at(-1) as { defaultPath?: string }).defaultPath)
          const filePath = paths[names.length - 1] ?? ''
          return Promise.resolve({ canceled: filePath === '', filePath })
        }) as typeof dialog.showSaveDialog
      }, [join(folder, 'nowhere', 'saved.json'), '', saved])
      await page.getByRole('button', { name: /^Run/ }).click()
      await expect.poll(() => rowCount(page), { timeout: 60_000 }).toBeGreaterThanOrEqual(3)
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
      await expect.poll(() => app.evaluate(() => (Reflect.get(globalThis, 'names') as unknown[]).length), { timeout: 60_000 }).toBe(3)
      const asked = await app.evaluate(() => Reflect.get(globalThis, 'asked') as { message: string; detail: string; buttons: string[] }[])
      expect(asked.map(({ message, buttons }) => [message.replace(/^\d+/, 'N'), buttons])).toEqual(new Array(3).fill(['N results could not be stored in the history', ['Cancel', 'Save as a file…']]))
      expect(asked.map(({ detail }) => detail.split('\n')[0])).toEqual([expect.stringContaining('history.sqlite is gone'), expect.stringMatching(/^cannot write .*nowhere/), expect.stringMatching(/^cannot write .*nowhere/)])
      expect(await app.evaluate(() => Reflect.get(globalThis, 'names') as string[])).toEqual(new Array(3).fill(expect.stringMatching(/^add.*\.opscope\.json$/)))
      await expect.poll(() => importSession('saved.opscope.json', readFileSync(saved, 'utf8')).ok).toBe(true)
      const outcome = importSession('saved.opscope.json', readFileSync(saved, 'utf8'))
      if (!outcome.ok) throw new Error(outcome.message)
      const { session, results } = outcome.file
      expect(session).toMatchObject({ state: 'stopped', planned: 20 })
      expect(results.map((result) => result.case.params['n'])).toEqual(sizes.slice(0, Number(/^\d+/.exec(asked[0]!.message)?.[0])))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('cases that go wrong', () => {
  // Hosts crash, hang and are started anew sixteen times, each of which a busy machine takes seconds for.
  it('cost only themselves, and the table says in words what happened', { timeout: 300_000 }, async () => {
    leavePicks(dataDir, scripted(['steady', 'zeros', 'lazy', 'oom', 'fail', 'crash', 'exit', 'hang', 'lost'], '64, 128'))
    const { page, app, pageErrors } = await start()
    const pid = app.process().pid
    expect(await runToEnd(page)).toBe('Finished: 18 results, 16 of them failed (2 out of memory: the reason in the row says what fits).')
    await expect.poll(() => rowCount(page)).toBe(18)
    const words: Record<string, string> = {}
    for (const shape of ['64', '128']) {
      await page.getByRole('searchbox', { name: 'Filter rows' }).fill(` ${shape} `)
      await expect.poll(async () => [...new Set((await tableRows(page)).map((row) => row['shape']))]).toEqual([shape])
      await expect.poll(async () => (await tableRows(page)).length).toBe(9)
      for (const row of await tableRows(page)) {
        expect(words[row['backend']!] ?? row['status']).toBe(row['status'])
        words[row['backend']!] = row['status']!
      }
    }
    expect(words).toEqual({
      'fake steady': 'ok', 'fake zeros': 'verification failed', 'fake lazy': 'verification failed', 'fake oom': 'failed', 'fake fail': 'failed',
      'fake crash': 'crashed', 'fake exit': 'crashed', 'fake hang': 'timed out', 'fake lost': 'failed',
    })
    const reasons: [string, RegExp][] = [['crash', /SIGSEGV/], ['exit', /status 3/], ['oom', /8 GiB are needed/], ['hang', /\d s|answer|silent|nothing/i], ['zeros', /wrong|differ|reference|error/i]]
    await page.getByRole('searchbox', { name: 'Filter rows' }).fill('')
    await page.getByRole('button', { name: 'Filter by column' }).click()
    for (const [impl, reason] of reasons) {
      await page.getByRole('textbox', { name: 'Filter Backend' }).fill(impl)
      await expect.poll(async () => [...new Set((await tableRows(page)).map((row) => row['backend']))]).toEqual([`fake ${impl}`])
      await grid(page).focus()
      await page.keyboard.press('Home')
      await page.keyboard.press('Enter')
      await details(page).getByText(reason).first().waitFor()
      await page.keyboard.press('Escape')
    }
    expect(app.process().pid).toBe(pid)
    expect(pageErrors).toEqual([])
  })
})
