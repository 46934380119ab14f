import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Page } from 'playwright-core'
import { Cli } from './cli'
import { launch, type Launched } from './launch'
import { dataRows, messages, sessions, view } from './ui'

const folder = mkdtempSync(join(tmpdir(), 'opscope-association-'))
const home = { XDG_DATA_HOME: join(folder, 'share'), XDG_CONFIG_HOME: join(folder, 'config') }
const entry = join(home.XDG_DATA_HOME, 'applications', 'opscope.desktop')
const cli = new Cli()
let opened: Launched
let page: Page
beforeAll(async () => {
  opened = await launch({ dataDir: join(folder, 'data'), env: home })
  page = opened.page
  await view(page, 'Settings')
})
afterAll(async () => {
  await opened.close()
  for (const made of [folder, cli.folder]) rmSync(made, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

const box = () => page.getByRole('checkbox', { name: 'Open .opscope.json files with Opscope' })

/** What a file manager makes of an Exec key of quoted arguments. */
const execOf = (text: string, file: string): string[] =>
  [.../^Exec=(.*)$/m.exec(text)![1]!.matchAll(/"((?:[^"\\]|\\.)*)"|%U/g)].map(([whole, quoted]) => (whole === '%U' ? pathToFileURL(file).href : quoted!.replaceAll('\\\\', '\\').replace(/\\(.)/g, '$1').replaceAll('%%', '%')))

/** Folders of programs with a compiler's tool first that always fails: the start of a checkout must not build the addon here, which takes minutes. */
function pathWithoutBuilds(): string {
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'cmake'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  return [bin, process.env['PATH']].join(delimiter)
}

describe.runIf(process.platform === 'linux')('the file type of sessions', () => {
  it('is registered from Settings, and Undo takes it back', async () => {
    await box().check()
    await messages(page).getByText('Session files now open with Opscope.').waitFor()
    await expect.poll(() => existsSync(entry)).toBe(true)
    await messages(page).getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => box().isChecked()).toBe(false)
    await expect.poll(() => existsSync(entry)).toBe(false)
  })

  it('is registered from the command line, and the command it registers opens a file in the window there is', async () => {
    const done = await cli.run(['associate', '--json'], home)
    expect(JSON.parse(done.out)).toMatchObject({ how: 'here', on: true })
    const file = join(folder, 'from the desktop.opscope.json')
    copyFileSync(resolve(import.meta.dirname, '../fixtures/formats/json/import/version-1.json'), file)
    const [command, ...args] = execOf(readFileSync(entry, 'utf8'), file)
    // In a group of its own, so that whatever it starts ends with it also where the test fails.
    const started = spawn(command!, args, { env: { ...process.env, ...home, PATH: pathWithoutBuilds(), OPSCOPE_DATA_DIR: opened.dataDir }, stdio: 'ignore', detached: true })
    const ended = new Promise((done) => started.once('close', done))
    onTestFinished(() => {
      try {
        process.kill(-started.pid!, 'SIGKILL')
      } catch {
        // It has ended.
      }
    })
    await page.getByRole('main').getByRole('button', { name: 'First look' }).waitFor()
    expect(await ended).toBe(0)
    await view(page, 'History')
    await expect.poll(() => dataRows(sessions(page)).count()).toBe(1)
  })

  it('is unregistered from the command line, which Settings shows', async () => {
    await cli.run(['associate', '--remove'], home)
    expect(existsSync(entry)).toBe(false)
    await view(page, 'Settings')
    await expect.poll(() => box().isChecked()).toBe(false)
  })
})
