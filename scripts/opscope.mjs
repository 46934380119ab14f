/** npm run opscope -- ARGUMENTS: the command line. Set-up, when something changed, speaks on stderr only. */
import { at, nodeBinary } from './lib/paths.mjs'
import { electronEnvironment, setUp } from './lib/setup.mjs'
import { main, runAttached } from './lib/steps.mjs'

await main(async () => {
  const { electron } = await setUp('cli')
  return runAttached(nodeBinary(), [at('out', 'main', 'cli.js'), ...process.argv.slice(2)], { env: electronEnvironment(electron) })
})
