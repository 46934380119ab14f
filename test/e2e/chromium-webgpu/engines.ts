import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { _electron, type Page } from 'playwright-core'
import { electronBinary } from '../../../scripts/lib/electron.mjs'
import { hasDisplay } from '../../../scripts/lib/display.mjs'
import { chromiumPath, launchChromium, NO_CHROMIUM, SOFTWARE_SWITCHES } from './chromium'

/** A browser engine to test pages in, or why it cannot be used here. */
export type Engine = { name: string; open(url: string): Promise<{ page: Page; close(): Promise<void> }> } | { name: string; missing: string }

function debianChromium(): Engine {
  const executablePath = chromiumPath()
  if (!executablePath) return { name: 'Chromium', missing: NO_CHROMIUM }
  return {
    name: 'Chromium',
    async open(url) {
      const browser = await launchChromium(executablePath)
      const page = await browser.newPage()
      await page.goto(url)
      return { page, close: () => browser.close() }
    },
  }
}

function electron(): Engine {
  const binary = electronBinary()
  if ('reason' in binary) return { name: 'Electron', missing: binary.reason }
  if (!hasDisplay()) return { name: 'Electron', missing: 'there is no display' }
  const { ELECTRON_RUN_AS_NODE: _, ...env } = process.env
  return {
    name: 'Electron',
    async open(url) {
      const data = mkdtempSync(join(tmpdir(), 'opscope-page-'))
      const app = await _electron.launch({ executablePath: binary.path, args: [`--user-data-dir=${data}`, ...SOFTWARE_SWITCHES, resolve(import.meta.dirname, 'electron-page.mjs'), url], env: env as Record<string, string> })
      const page = await app.firstWindow()
      await page.waitForLoadState('load')
      return {
        page,
        async close() {
          await app.close()
          rmSync(data, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
        },
      }
    },
  }
}

/** Debian's Chromium, whose engine the current Electron has, and the Electron that runs the app here. */
export const ENGINES: readonly Engine[] = [debianChromium(), electron()]
