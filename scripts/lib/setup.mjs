import { buildAddon } from './addon.mjs'
import { buildApp } from './app-build.mjs'
import { installDependencies } from './dependencies.mjs'
import { prepareElectron } from './electron.mjs'
import { withLock } from './lock.mjs'
import { at } from './paths.mjs'
import { installSystemPackages, prepareSystemPackages } from './system-packages.mjs'

/**
 * Everything between a fresh clone and something to run; each part only when it is missing or its sources changed.
 * @param {'cli' | 'app' | 'test' | 'dev'} purpose
 *   cli: carries on without what only WebGPU needs. app: a window must be able to open. test: also Xvfb and Chromium.
 *   dev: like app, without the bundles.
 * @returns {Promise<{ electron: ReturnType<typeof import('./electron.mjs').electronBinary>, addon: boolean }>}
 */
export function setUp(purpose) {
  return withLock(at('.cache', 'setup.lock'), async () => {
    await installDependencies()
    const strict = purpose !== 'cli'
    await prepareSystemPackages(purpose === 'test' ? ['addon', 'app', 'display', 'chromium', 'desktop', 'python', 'remote', 'arm64'] : strict ? ['addon', 'app'] : ['addon', 'app', 'display'])
    const tools = await installSystemPackages(['addon'], 'the native addon, which measures CPU and CUDA, cannot be built', purpose === 'test')
    if (strict) await installSystemPackages(purpose === 'test' ? ['app', 'display', 'chromium'] : ['app'], purpose === 'test' ? 'the tests cannot run' : 'the window cannot open', true)
    else await installSystemPackages(['app', 'display'], 'WebGPU cannot be measured', false)
    if (purpose === 'test') await installSystemPackages(['desktop'], 'the test of the file type is skipped', false)
    if (purpose === 'test') await installSystemPackages(['python'], 'tests of the Python backend cannot run', false)
    if (purpose === 'test') await installSystemPackages(['arm64'], 'the test of the NEON kernels is skipped', false)
    if (purpose === 'test') await installSystemPackages(['remote'], 'tests with real ssh, NATS and Slurm servers are skipped', false)
    const electron = await prepareElectron()
    const addon = tools && (await buildAddon())
    if (purpose !== 'dev') await buildApp()
    return { electron, addon }
  })
}

/** Environment that tells the app's own code where Electron is. */
export const electronEnvironment = (electron) => ('path' in electron ? { OPSCOPE_ELECTRON: electron.path } : { OPSCOPE_ELECTRON_MISSING: electron.reason })
