/** npm run dev: the app with hot reload of the page and restart of main. */
import { rmSync } from 'node:fs'
import { BUILD_STAMP } from './lib/app-build.mjs'
import { hasDisplay, sandboxSwitches } from './lib/display.mjs'
import { nodeBinary, packageScript } from './lib/paths.mjs'
import { electronEnvironment, setUp } from './lib/setup.mjs'
import { SetupError, main, runAttached } from './lib/steps.mjs'

await main(async () => {
  if (!hasDisplay()) throw new SetupError('npm run dev opens a window, but there is no display; set DISPLAY or use xvfb-run')
  const { electron } = await setUp('dev')
  if ('reason' in electron) throw new SetupError(`npm run dev needs Electron: ${electron.reason}`)
  // The development bundles take the place of the built ones; the next start must build those again.
  rmSync(BUILD_STAMP, { force: true })
  const noSandbox = sandboxSwitches().length > 0 ? ['--noSandbox'] : []
  return runAttached(nodeBinary(), [packageScript('electron-vite', 'bin', 'electron-vite.js'), 'dev', '--watch', ...noSandbox, '--', ...process.argv.slice(2)], {
    env: { ...electronEnvironment(electron), ELECTRON_EXEC_PATH: electron.path },
  })
})
