import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { at } from './paths.mjs'
import { isCurrent, writeStamp } from './stamp.mjs'
import { SetupError, run, step } from './steps.mjs'

const STAMP = at('node_modules', '.opscope-lock')

/** Whether what npm wrote about node_modules agrees with package-lock.json, for packages meant for this platform. */
function installedMatches(lock) {
  const hidden = at('node_modules', '.package-lock.json')
  if (!existsSync(hidden)) return false
  const installed = JSON.parse(readFileSync(hidden, 'utf8')).packages
  return Object.entries(lock.packages).every(([path, wanted]) => {
    if (path === '' || wanted.link) return true
    const have = installed[path]
    return have ? have.version === wanted.version && have.integrity === wanted.integrity : wanted.optional === true || wanted.devOptional === true || wanted.peer === true
  })
}

/** Installs npm packages when node_modules is missing or is not what package-lock.json says. */
export async function installDependencies() {
  const lockText = readFileSync(at('package-lock.json'))
  const hash = createHash('sha256').update(lockText).digest('hex')
  if (isCurrent(STAMP, hash)) return
  if (installedMatches(JSON.parse(lockText.toString()))) return writeStamp(STAMP, hash)
  await step('installing npm packages (npm ci)', async () => {
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
    try {
      await run(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { env: { ELECTRON_SKIP_BINARY_DOWNLOAD: '1' }, what: 'npm ci' })
    } catch (error) {
      throw new SetupError('the npm packages could not be installed; check the network or your npm registry setting, then start again', error.detail)
    }
  })
  writeStamp(STAMP, hash)
}
