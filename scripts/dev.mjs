/** npm run dev: the app with hot reload of the page and restart of main. */
import { hasDisplay, sandboxSwitches } from './lib/display.mjs'
import { nodeBinary, packageScript } from './lib/paths.mjs'
import { electronEnvironment, setUp } from './lib/setup.mjs'
import { SetupError, main, runAttached } from './lib/steps.mjs'

await main(async () => {
  if (!hasDisplay()) throw new SetupError('npm run dev opens a window, but there is no display; set DISPLAY or use xvfb-run')
  const { electron } = await setUp('dev')
  if ('reason' in electron) throw new SetupError(`npm run dev needs Electron: ${electron.reason}`)
  const args = [...sandboxSwitches(), ...process.argv.slice(2)]
  return runAttached(nodeBinary(), [packageScript('electron-vite', 'bin', 'electron-vite.js'), 'dev', '--watch'], {
    env: { ...electronEnvironment(electron), ELECTRON_EXEC_PATH: electron.path, ELECTRON_CLI_ARGS: JSON.stringify(args) },
  })
})
