import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { at, nodeBinary } from './paths.mjs'
import { hashOf, isCurrent, writeStamp } from './stamp.mjs'
import { SetupError, run, step } from './steps.mjs'

/** Where electron-builder lies: 95 MB that nothing but packaging needs, so not in node_modules. */
const FOLDER = at('.cache', 'packager')
const WANTED = ['package.json', 'package-lock.json'].map((name) => at('packaging', 'builder', name))

/** Installs electron-builder as packaging/builder/package-lock.json says, when it is not there yet. */
async function installPackager() {
  const stamp = join(FOLDER, 'node_modules', '.opscope-stamp')
  const hash = hashOf(WANTED)
  if (isCurrent(stamp, hash)) return
  mkdirSync(FOLDER, { recursive: true })
  for (const file of WANTED) copyFileSync(file, join(FOLDER, basename(file)))
  await step('installing electron-builder (95 MB, once)', () => run(process.platform === 'win32' ? 'npm.cmd' : 'npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: FOLDER, what: 'npm ci of electron-builder' }))
  writeStamp(stamp, hash)
}

/** The folder that holds the executable's distribution; on macOS the executable lies inside the bundle. */
const distributionOf = (electron) => (process.platform === 'darwin' ? join(dirname(electron), '..', '..', '..') : dirname(electron))

function electronVersionOf(distribution) {
  const file = join(distribution, 'version')
  if (!existsSync(file)) throw new SetupError(`${distribution} does not say which Electron it is: expected a file "version" in it`)
  return readFileSync(file, 'utf8').trim().replace(/^v/, '')
}

/** The program inside a folder that electron-builder packed. */
function executableIn(folder) {
  if (process.platform === 'win32') return join(folder, 'Opscope.exe')
  return process.platform === 'darwin' ? join(folder, 'Opscope.app', 'Contents', 'MacOS', 'Opscope') : join(folder, 'opscope')
}

/**
 * Packs what is built with this Electron into `output`: dist/, a test build dist/test/, unless it is given.
 * @param {string} electron path of Electron's executable
 * @param {{ test: boolean, installer: boolean, output?: string }} options `test`: keeps what Playwright needs; `installer`: also makes
 *   the platform's installers, for which electron-builder fetches tools from GitHub
 * @returns {Promise<string>} the packed program
 */
export async function packApp(electron, { test, installer, output = test ? at('dist', 'test') : at('dist') }) {
  await installPackager()
  const distribution = distributionOf(electron)
  const unpacked = () => (existsSync(output) ? readdirSync(output).filter((name) => /^(?:linux|win|mac)(?:-\w+)?(?:-unpacked)?$/.test(name)) : []).map((name) => join(output, name))
  for (const old of unpacked()) rmSync(old, { recursive: true, force: true })
  const settings = {
    electronDist: distribution,
    electronVersion: electronVersionOf(distribution),
    'directories.output': output,
    ...(test ? { 'extraMetadata.opscopeTestBuild': true, 'electronFuses.enableNodeCliInspectArguments': true } : {}),
  }
  const args = [...(installer ? [] : ['--dir']), '--publish', 'never', '--config', at('electron-builder.config.mjs'), ...Object.entries(settings).map(([key, value]) => `-c.${key}=${value}`)]
  await step('packing the app', () => run(nodeBinary(), [join(FOLDER, 'node_modules', 'electron-builder', 'cli.js'), ...args], { what: 'electron-builder', env: { CSC_IDENTITY_AUTO_DISCOVERY: 'false' } }))
  const program = unpacked().map(executableIn).find((path) => existsSync(path))
  if (!program) throw new SetupError(`electron-builder left no program in ${output}`)
  return program
}
