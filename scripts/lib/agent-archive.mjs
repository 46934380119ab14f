import { spawn } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, createWriteStream, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { at, nodeBinary } from './paths.mjs'
import { SetupError, run, step } from './steps.mjs'

/** Largest archive that is copied to other machines. */
const MAX_BYTES = 60e6

/** Starts Opscope's command line with the Node beside it, wherever it was unpacked. */
const PROGRAM = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec "$here/node" "$here/../out/main/cli.js" "$@"
`

/** What SQLite's package needs to run: its code, and its library for this platform. */
function copySqlite(stage) {
  const from = at('node_modules', '@photostructure', 'sqlite')
  const to = join(stage, 'node_modules', '@photostructure', 'sqlite')
  const platform = `${process.platform}-${process.arch}`
  for (const part of ['package.json', 'LICENSE', 'dist', join('prebuilds', platform)]) {
    cpSync(join(from, part), join(to, part), { recursive: true, filter: (path) => !/\.(?:map|ts|mts|cts)$/.test(path) })
  }
  cpSync(at('node_modules', 'node-gyp-build'), join(stage, 'node_modules', 'node-gyp-build'), { recursive: true })
}

/** Everything of the archive, as it is unpacked on another machine. */
async function fill(stage) {
  mkdirSync(join(stage, 'bin'))
  writeFileSync(join(stage, 'bin', 'opscope'), PROGRAM)
  chmodSync(join(stage, 'bin', 'opscope'), 0o755)
  copyFileSync(nodeBinary(), join(stage, 'bin', 'node'))
  chmodSync(join(stage, 'bin', 'node'), 0o755)
  // Symbols for debuggers are a tenth of it; it runs as well with them.
  await run('strip', [join(stage, 'bin', 'node')]).catch(() => undefined)
  const licence = at('node_modules', `node-linux-${process.arch}`, 'LICENSE')
  if (existsSync(licence)) copyFileSync(licence, join(stage, 'bin', 'LICENSE.node'))
  cpSync(at('out', 'main'), join(stage, 'out', 'main'), { recursive: true, filter: (path) => extname(path) !== '.map' && basename(path) !== 'index.js' })
  for (const name of ['package.json', 'LICENSE']) copyFileSync(at(name), join(stage, name))
  for (const name of ['opscope.node', 'libopscope_guest.so']) {
    const built = at('native', 'build', name)
    if (!existsSync(built)) continue
    mkdirSync(join(stage, 'native', 'build'), { recursive: true })
    copyFileSync(built, join(stage, 'native', 'build', name))
  }
  copySqlite(stage)
}

async function compress(stage, file) {
  const tar = spawn('tar', ['-cf', '-', '--owner=0', '--group=0', '--sort=name', '--mtime=@0', '-C', stage, '.'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((done, fail) => tar.on('error', fail).on('close', (code) => (code === 0 ? done() : fail(new SetupError(`tar exited with status ${code}`)))))
  await Promise.all([pipeline(tar.stdout, createGzip({ level: 9 }), createWriteStream(file)), ended])
}

/** Unpacks it as another machine would, with nothing of this checkout in reach, and has it list its devices. */
async function check(file) {
  const folder = mkdtempSync(join(tmpdir(), 'opscope-agent-check-'))
  try {
    await run('tar', ['-xzf', file, '-C', folder])
    const env = { PATH: '/usr/bin:/bin', OPSCOPE_DATA_DIR: join(folder, 'data') }
    const listed = JSON.parse(await run('env', ['-i', ...Object.entries(env).map(([key, value]) => `${key}=${value}`), join(folder, 'bin', 'opscope'), 'list', 'devices', '--backends', 'cpu', '--json'], { cwd: folder, what: 'the unpacked agent' }))
    if (!listed.some(({ id, available }) => id === 'cpu' && available.ok)) throw new SetupError(`the unpacked agent cannot measure on this processor: ${JSON.stringify(listed)}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Makes the archive that `opscope remote add` copies to other machines: Node, the built code, the addon; no compiler and no npm
 * is needed there. Checks it by running it.
 * @param {string} [output] folder, dist/ unless it is given
 * @returns {Promise<{ file: string, bytes: number }>}
 */
export async function packAgent(output = at('dist')) {
  if (process.platform !== 'linux') throw new SetupError('an agent is made on Linux, where it runs')
  const { version } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
  mkdirSync(output, { recursive: true })
  const file = join(output, `opscope-agent-${version}-linux-${process.arch}.tar.gz`)
  const stage = mkdtempSync(join(tmpdir(), 'opscope-agent-'))
  try {
    await step('packing the agent', async () => {
      await fill(stage)
      await compress(stage, file)
    })
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
  const bytes = statSync(file).size
  if (bytes > MAX_BYTES) throw new SetupError(`the agent is ${(bytes / 1e6).toFixed(1)} MB large; at most ${MAX_BYTES / 1e6} MB are copied to other machines`)
  await step('checking the agent', () => check(file))
  return { file, bytes }
}
