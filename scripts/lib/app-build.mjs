import { existsSync } from 'node:fs'
import { at, nodeBinary, packageScript } from './paths.mjs'
import { filesBelow, hashOf, isCurrent, writeStamp } from './stamp.mjs'
import { SetupError, run, step } from './steps.mjs'

/** Stands for the bundles in out/. */
export const BUILD_STAMP = at('out', '.opscope-stamp')
const SOURCES = ['core', 'main', 'preload', 'renderer', 'package.json', 'package-lock.json', 'electron.vite.config.ts', 'tsconfig.json']

/** Bundles main, preload and the pages into out/ when their sources changed. */
export async function buildApp() {
  const sources = filesBelow(SOURCES.map((path) => at(path)), (path) => /\.(test\.ts|md)$/.test(path) || path.includes('__pycache__'))
  const hash = hashOf(sources)
  if (existsSync(at('out', 'main', 'cli.js')) && isCurrent(BUILD_STAMP, hash)) return
  await step('building the app', async () => {
    try {
      await run(nodeBinary(), [packageScript('electron-vite', 'bin', 'electron-vite.js'), 'build'], { what: 'electron-vite build', env: { NODE_ENV: 'production' } })
    } catch (error) {
      throw new SetupError('the app could not be built', error.detail ?? error.message)
    }
  })
  writeStamp(BUILD_STAMP, hash)
}
