/** npm start: sets up, then opens the app, or without a display measures the default sweep in the terminal. */
import { hasDisplay, sandboxSwitches } from './lib/display.mjs'
import { at, nodeBinary } from './lib/paths.mjs'
import { electronEnvironment, setUp } from './lib/setup.mjs'
import { main, runAttached, say } from './lib/steps.mjs'

await main(async () => {
  const args = process.argv.slice(2)
  const display = hasDisplay()
  const { electron } = await setUp(display ? 'app' : 'cli')
  if ('reason' in electron) say(`opscope: the window cannot open, so the default sweep runs here: ${electron.reason}`)
  else if (!display) say('opscope: there is no display, so the default sweep runs here')
  if ('reason' in electron || !display) return runAttached(nodeBinary(), [at('out', 'main', 'cli.js'), 'default-sweep', ...args], { env: electronEnvironment(electron) })
  return runAttached(electron.path, [at('.'), ...sandboxSwitches(), ...args], { env: electronEnvironment(electron) })
})
