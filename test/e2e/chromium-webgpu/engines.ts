import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { _electron, type Page } from 'playwright-core'
import { electronBinary } from '../../../scripts/lib/electron.mjs'
import { hasDisplay } from '../../../scripts/lib/display.mjs'
import { launchChromium, SOFTWARE_SWITCHES } from './chromium'
import { chromiumPath, NO_CHROMIUM } from './chromium-path'

/** A browser engine to test pages in: `open` starts one of its own with an empty page, and with the software adapter unless other switches are given. */
export interface Engine {
  name: string
  open(switches?: readonly string[]): Promise<{ page: Page; close(): Promise<void> }>
}

/** Why an engine cannot be used here. */
export interface MissingEngine {
  name: string
  missing: string
}

function debianChromium(): Engine | MissingEngine {
  const executablePath = chromiumPath()
  if (!executablePath) return { name: 'Chromium', missing: NO_CHROMIUM }
  return {
    name: 'Chromium',
    async open(switches) {
      const browser = await launchChromium(executablePath, switches)
      return { page: await browser.newPage(), close: () => browser.close() }
    },
  }
}

function electron(): Engine | MissingEngine {
  const binary = electronBinary()
  if ('reason' in binary) return { name: 'Electron', missing: binary.reason }
  if (!hasDisplay()) return { name: 'Electron', missing: 'there is no display' }
  const { ELECTRON_RUN_AS_NODE: _, ...env } = process.env
  return {
    name: 'Electron',
    async open(switches = SOFTWARE_SWITCHES) {
      const data = mkdtempSync(join(tmpdir(), 'opscope-page-'))
      const app = await _electron.launch({ executablePath: binary.path, args: [`--user-data-dir=${data}`, ...switches, resolve(import.meta.dirname, 'electron-page.mjs')], env: env as Record<string, string> })
      return {
        page: await app.firstWindow(),
        async close() {
          await app.close()
          rmSync(data, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
        },
      }
    },
  }
}

/** Debian's Chromium, whose engine the current Electron has, and the Electron that runs the app here. */
export const ENGINES: readonly (Engine | MissingEngine)[] = [debianChromium(), electron()]
