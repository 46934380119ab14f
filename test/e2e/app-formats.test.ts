import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { launch, type Launched } from './launch'
import { dataRows, messages, pressOnceShown, rowCount, sessions, tableRows, view } from './ui'

const folder = mkdtempSync(join(tmpdir(), 'opscope-formats-'))
const fixture = (path: string) => resolve(import.meta.dirname, '../fixtures/formats', path)
let opened: Launched
let page: Page

/** Drops files on the window as a file manager does: the page gets names and contents. */
async function drop(...paths: string[]): Promise<void> {
  const files = paths.map((path) => ({ name: basename(path), text: readFileSync(path, 'utf8') }))
  await page.evaluate((given) => {
    const transfer = new DataTransfer()
    for (const { name, text } of given) transfer.items.add(new File([text], name))
    for (const type of ['dragenter', 'dragover', 'drop']) document.body.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }))
  }, files)
}

const dialogsAnswer = (path: string) =>
  opened.app.evaluate(({ dialog }, chosen) => {
    dialog.showSaveDialog = (() => Promise.resolve({ canceled: false, filePath: chosen })) as typeof dialog.showSaveDialog
    dialog.showOpenDialog = (() => Promise.resolve({ canceled: false, filePaths: [chosen] })) as typeof dialog.showOpenDialog
  }, path)

/** Exports the session on show to what the dialogs answer. */
async function exportAsLines(): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Command' }).fill('export session as json lines')
  await page.keyboard.press('Enter')
}

beforeAll(async () => {
  copyFileSync(fixture('json/import/version-1.json'), join(folder, 'first.opscope.json'))
  opened = await launch({ dataDir: join(folder, 'data'), args: [join(folder, 'first.opscope.json')] })
  page = opened.page
})
afterAll(async () => {
  await opened.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

describe('files of other tools', () => {
  it('a session given at the start is open', async () => {
    const { session, results } = JSON.parse(readFileSync(fixture('json/import/version-1.json'), 'utf8')) as { session: { name: string }; results: unknown[] }
    await page.getByRole('main').getByRole('button', { name: session.name }).waitFor()
    await expect.poll(() => rowCount(page)).toBe(results.length)
  })

  it('a dropped file of Google Benchmark becomes a session and comes into view', async () => {
    await drop(fixture('google-benchmark/import/plain.json'))
    await messages(page).getByText('Imported “plain”.').waitFor()
    await expect.poll(() => rowCount(page)).toBe(4)
    await expect.poll(async () => (await tableRows(page)).map((row) => Object.values(row).join(' ')).join('\n')).toMatch(/BM_Add[^]*BM_Add[^]*BM_Sum<double>[^]*BM_Broken/)
  })

  it('garbage gives one message that names the file, and changes nothing', async () => {
    await view(page, 'History')
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(2)
    writeFileSync(join(folder, 'holiday.txt'), '\u0000\u0001 not a benchmark {]')
    await drop(join(folder, 'holiday.txt'))
    const alert = messages(page).getByRole('alert')
    await alert.waitFor()
    await expect.poll(() => alert.count()).toBe(1)
    expect(await alert.getByRole('paragraph').innerText()).toMatch(/^Import failed: holiday\.txt: not a format that can be read; expected one of: JSON, /)
    await alert.getByRole('button', { name: 'Dismiss' }).click()
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(2)
  })

  it('of two dropped files the good one comes in and the bad one is named', async () => {
    writeFileSync(join(folder, 'cut.jsonl'), readFileSync(fixture('jsonl/import/session.jsonl'), 'utf8').slice(0, 5000))
    await drop(join(folder, 'cut.jsonl'), fixture('nvbench/import/built-from-schema.json'))
    await messages(page).getByText('Imported “built-from-schema”.').waitFor()
    const alert = messages(page).getByRole('alert')
    await alert.getByText(/^Import failed: cut\.jsonl: line \d/).waitFor()
    await alert.getByRole('button', { name: 'Dismiss' }).click()
    await expect.poll(() => alert.count()).toBe(0)
  })

  it('every format that can be written is offered with what it is for, by keyboard too', async () => {
    await view(page, 'History')
    await dataRows(sessions(page)).filter({ hasText: 'plain' }).click()
    await page.keyboard.press('Control+s')
    const dialog = page.getByRole('dialog', { name: 'Export “plain”' })
    await dialog.waitFor()
    const offered = dialog.getByRole('list').getByRole('button')
    await expect.poll(async () => (await offered.allInnerTexts()).map((text) => text.split('\n')[0])).toEqual(expect.arrayContaining(['JSON', 'JSON Lines', 'CSV', 'Samples (CSV)', 'Google Benchmark', 'HTML']))
    await page.keyboard.press('Escape')
    await expect.poll(() => dialog.count()).toBe(0)
  })

  it('a session exported as JSON Lines comes back the same', async () => {
    const path = join(folder, 'lines.jsonl')
    await dialogsAnswer(path)
    await exportAsLines()
    await messages(page).getByText('Exported to lines.jsonl.').waitFor()
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(3)
    await page.keyboard.press('Control+o')
    // It comes into view by itself.
    await expect.poll(() => new URL(page.url()).hash).toMatch(/^#\/session\//)
    await view(page, 'History')
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(4)
    await dataRows(sessions(page)).filter({ hasText: 'plain' }).first().dblclick()
    await expect.poll(() => rowCount(page)).toBe(4)
    await expect.poll(async () => (await tableRows(page)).length).toBe(4)
  })

  it('a second start with a file hands it to the window that is open', async () => {
    const path = join(folder, 'second.opscope.json')
    writeFileSync(path, readFileSync(fixture('json/import/version-1.json'), 'utf8').replace(/"name":"[^"]*"/, '"name":"From outside"'))
    await opened.app.evaluate(({ app }, file) => app.emit('second-instance', {}, ['opscope', file], '/'), path)
    await page.getByRole('main').getByRole('button', { name: 'From outside' }).waitFor()
  })

  describe('a large file', () => {
    /** So many that the work takes seconds on a fast machine too: its progress is shown from 0.3 s on. */
    const count = 20_000
    /** Sessions in the history after the large file has been imported: six, of which this is the last. */
    const SESSIONS = 6
    const large = join(folder, 'large.jsonl')
    /** Watches how far the work on a file is, and asks main for the state of the run again and again meanwhile. */
    const watchFile = () =>
      page.evaluate(async () => {
        const shares: (number | undefined)[] = []
        let answered = 0
        const off = window.opscope!.on('transfer:progress', ({ share }) => shares.push(share))
        while (!shares.includes(undefined)) {
          await window.opscope!.invoke('run:state', undefined)
          if (shares.length > 0) answered++
          await new Promise((done) => setTimeout(done, 10))
        }
        off()
        return { shares, answered }
      })

    beforeAll(() => {
      const [head, first] = readFileSync(fixture('jsonl/import/session.jsonl'), 'utf8').split('\n').map((line) => (line ? (JSON.parse(line) as Record<string, unknown>) : {}))
      const results = Array.from({ length: count }, (_, i) => JSON.stringify({ ...first, id: `large-${i}` }))
      const session = { ...(head!['session'] as object), id: 'large', name: 'Large' }
      writeFileSync(large, [JSON.stringify({ ...head, session, results: count }), ...results, ''].join('\n'))
    })

    it('comes in while the window goes on answering', async () => {
      await dialogsAnswer(large)
      const watched = watchFile()
      await page.keyboard.press('Control+o')
      const { shares, answered } = await watched
      expect(answered).toBeGreaterThan(5)
      expect(shares.filter((share) => share !== undefined)).toEqual(shares.filter((share) => share !== undefined).sort((a, b) => a! - b!))
      await messages(page).getByText('Imported “Large”.').waitFor()
      await expect.poll(() => rowCount(page)).toBe(count)
    })

    it('is written while the window goes on answering, the same to the last line', async () => {
      const path = join(folder, 'written.jsonl')
      await dialogsAnswer(path)
      const watched = watchFile()
      await exportAsLines()
      const { shares, answered } = await watched
      expect(answered).toBeGreaterThan(5)
      expect(shares.filter((share) => share !== undefined)).toEqual(shares.filter((share) => share !== undefined).sort((a, b) => a! - b!))
      await messages(page).getByText('Exported to written.jsonl.').waitFor()
      const results = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\n').slice(1).map((line) => JSON.parse(line) as unknown)
      // Compared at once: a difference among thousands of results would take minutes to print.
      expect(isDeepStrictEqual(results(path), results(large))).toBe(true)
    })

    it('is opened to compare, with its progress shown, and not imported', async () => {
      await view(page, 'History')
      await expect.poll(() => dataRows(sessions(page)).count()).toBe(SESSIONS)
      await view(page, 'Compare')
      await dialogsAnswer(large)
      expect(statSync(large).size).toBeGreaterThan(2 ** 21)
      const watched = watchFile()
      const shown = Promise.all([page.getByText('Opening large.jsonl').waitFor(), page.getByRole('progressbar', { name: 'Opening' }).waitFor()])
      await page.getByRole('button', { name: 'Open files…' }).first().click()
      await shown
      const { shares, answered } = await watched
      expect(answered).toBeGreaterThan(5)
      expect(shares.filter((share) => share !== undefined)).toEqual(shares.filter((share) => share !== undefined).sort((a, b) => a! - b!))
      await page.getByTitle('large.jsonl, not imported').waitFor()
      await expect.poll(() => page.getByRole('progressbar', { name: 'Opening' }).count()).toBe(0)
      await view(page, 'History')
      await expect.poll(() => dataRows(sessions(page)).count()).toBe(SESSIONS)
      await view(page, 'Session')
    })

    it('is not written at all when that is cancelled', async () => {
      const path = join(folder, 'cancelled.jsonl')
      await dialogsAnswer(path)
      // In the page itself, at the first sign of it: a busy machine may finish the file between two steps of the test.
      const cancelled = page.evaluate(
        () =>
          new Promise((resolve) => {
            const off = window.opscope!.on('transfer:progress', ({ share }) => {
              if (!share) return
              off()
              resolve(window.opscope!.invoke('transfer:cancel', undefined))
            })
          }),
      )
      await exportAsLines()
      expect(await cancelled).toEqual({ ok: true, value: { stopped: true } })
      await expect.poll(() => page.getByRole('progressbar', { name: 'Export' }).count()).toBe(0)
      await expect.poll(() => readdirSync(folder).filter((name) => name.startsWith('cancelled'))).toEqual([])
      await dialogsAnswer(large)
    })

    it('can be cancelled, and nothing of it stays', async () => {
      await view(page, 'History')
      await expect.poll(() => dataRows(sessions(page)).count()).toBe(SESSIONS)
      const pressed = pressOnceShown(page, '[aria-label="File in progress"]', /large\.jsonl/, 'Cancel')
      await page.keyboard.press('Control+o')
      await pressed
      await messages(page).getByText('Stopped; nothing of large.jsonl was imported.').waitFor()
      await expect.poll(() => page.getByRole('progressbar', { name: 'Import' }).count()).toBe(0)
      await expect.poll(() => dataRows(sessions(page)).count()).toBe(SESSIONS)
      expect(await messages(page).getByRole('alert').filter({ hasText: 'large' }).count()).toBe(0)
    })

    it('that is damaged is refused in one message', async () => {
      writeFileSync(large, readFileSync(large, 'utf8').slice(0, -200))
      await page.keyboard.press('Control+o')
      const alert = messages(page).getByRole('alert').filter({ hasText: 'large.jsonl' })
      await alert.getByText(new RegExp(`^Import failed: large\\.jsonl: line ${count + 1}: column \\d+: expected`)).waitFor()
      await alert.getByRole('button', { name: 'Dismiss' }).click()
    })
  })

  it('leaves no error on the console', () => {
    expect(opened.pageErrors).toEqual([])
  })
})
