/** npm run build: the native addon and the bundles in out/, only as far as sources changed. */
import { buildAddon } from './lib/addon.mjs'
import { buildApp } from './lib/app-build.mjs'
import { installDependencies } from './lib/dependencies.mjs'
import { withLock } from './lib/lock.mjs'
import { at } from './lib/paths.mjs'
import { main } from './lib/steps.mjs'
import { installSystemPackages } from './lib/system-packages.mjs'

await main(() => withLock(at('.cache', 'setup.lock'), async () => {
  await installDependencies()
  if (await installSystemPackages(['addon'], 'the native addon, which measures CPU and CUDA, cannot be built', false)) await buildAddon()
  await buildApp()
}))
