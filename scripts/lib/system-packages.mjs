import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createPermission } from './permission.mjs'
import { SetupError, run, runAttached, say, step } from './steps.mjs'

/**
 * What a part needs from the system: a program on PATH, a shared library or a file, and the Debian packages that bring it,
 * the first that exists counting (Ubuntu renamed some). The libraries named bring all others Electron needs with them.
 */
const NEEDS = {
  addon: [
    { program: 'cmake', packages: ['cmake'] },
    { program: 'ninja', packages: ['ninja-build'] },
    { program: process.env.CXX || 'c++', packages: ['g++'] },
  ],
  app: [
    { library: 'libgtk-3.so.0', packages: ['libgtk-3-0', 'libgtk-3-0t64'] },
    { library: 'libnss3.so', packages: ['libnss3'] },
    { library: 'libasound.so.2', packages: ['libasound2', 'libasound2t64'] },
    { library: 'libgbm.so.1', packages: ['libgbm1'] },
  ],
  display: [
    { program: 'Xvfb', packages: ['xvfb'] },
    { program: 'xauth', packages: ['xauth'] },
  ],
  chromium: [{ program: 'chromium', packages: ['chromium'] }],
  // What tells the types of files to a desktop; users have a desktop's own.
  desktop: [
    { program: 'xdg-mime', packages: ['xdg-utils'] },
    { program: 'update-mime-database', packages: ['shared-mime-info'] },
    { program: 'update-desktop-database', packages: ['desktop-file-utils'] },
    { program: 'gio', packages: ['libglib2.0-bin'] },
  ],
  // Servers that tests of remote machines, fleets and clusters start for themselves.
  remote: [
    { program: 'ssh', packages: ['openssh-client'] },
    { file: '/usr/sbin/sshd', packages: ['openssh-server'] },
    { program: 'ip', packages: ['iproute2'] },
    { file: '/usr/sbin/nats-server', packages: ['nats-server'] },
    { file: '/usr/sbin/slurmctld', packages: ['slurmctld'] },
    { file: '/usr/sbin/slurmd', packages: ['slurmd'] },
    { program: 'sbatch', packages: ['slurm-client'] },
  ],
  // A compiler for arm64 and an emulator, with which tests check the kernels of that processor.
  arm64: process.arch === 'x64' ? [
    { program: 'aarch64-linux-gnu-g++', packages: ['g++-aarch64-linux-gnu'] },
    { program: 'qemu-aarch64', packages: ['qemu-user'] },
  ] : [],
  // What the system's own Python measures with in tests; users bring theirs.
  python: [
    { file: '/usr/lib/python3/dist-packages/numpy/__init__.py', packages: ['python3-numpy'] },
    { file: '/usr/lib/python3/dist-packages/torch/__init__.py', packages: ['python3-torch'] },
  ],
}

const onPath = (program) => (process.env.PATH ?? '').split(delimiter).some((folder) => {
  try {
    accessSync(join(folder, program), constants.X_OK)
    return true
  } catch {
    return false
  }
})

let libraries
function hasLibrary(name) {
  libraries ??= ['ldconfig', '/sbin/ldconfig'].map((tool) => spawnSync(tool, ['-p'], { encoding: 'utf8' }).stdout).find(Boolean) ?? ''
  return libraries.includes(`\t${name} `)
}

const isThere = ({ program, library, file }) => (program ? onPath(program) : library ? hasLibrary(library) : existsSync(file))

/** Names of the groups' packages that are missing here, each with its alternatives. Only Linux is asked. */
function missingPackages(groups) {
  return groups.flatMap((group) => NEEDS[group]).filter((need) => !isThere(need)).map((need) => need.packages)
}

const pick = (alternatives) => alternatives.find((name) => /^Candidate: (?!\(none\))/m.test(spawnSync('apt-cache', ['policy', name], { encoding: 'utf8' }).stdout?.replace(/^ +/gm, '') ?? '')) ?? alternatives[0]

const NONINTERACTIVE = 'DEBIAN_FRONTEND=noninteractive'
const permission = createPermission()

/** Installs packages, where this user may and agrees. Throws a SetupError when apt-get fails. */
async function install(missing) {
  const commands = [['env', NONINTERACTIVE, 'apt-get', 'update', '-q'], ['env', NONINTERACTIVE, 'apt-get', 'install', '-y', '-q', '--no-install-recommends', ...missing.map(pick)]]
  const before = await permission(commands)
  if (!before) return
  // Before the first line of progress, so that a password is asked for on a line of its own.
  if (before.length === 1) await runAttached('sudo', ['-v'])
  await step(`installing system packages (${missing.map((names) => names[0]).join(', ')})`, async () => {
    for (const command of commands) {
      const [program, ...args] = [...before, ...command]
      await run(program, args, { what: `apt-get ${command[3]}` })
    }
  })
  libraries = undefined
}

/** Installs all that is missing of several groups at once, so that the user is asked once for everything. What cannot be had is told by installSystemPackages. */
export async function prepareSystemPackages(groups) {
  if (process.platform !== 'linux' || !onPath('apt-get')) return
  const missing = missingPackages(groups)
  if (missing.length === 0) return
  try {
    await install(missing)
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    // One that cannot be had must not stand in the way of the others.
  }
}

/**
 * Installs what is missing through apt-get, when allowed to (permission.mjs).
 * @param {string[]} groups keys of NEEDS
 * @param {string} purpose what does not work without them, as in "the window cannot open"
 * @param {boolean} required whether to stop when they cannot be had
 * @returns {Promise<boolean>} whether everything is there
 */
export async function installSystemPackages(groups, purpose, required) {
  if (process.platform !== 'linux') return true
  const missing = missingPackages(groups)
  if (missing.length === 0) return true
  const hasApt = onPath('apt-get')
  if (hasApt) {
    try {
      await install(missing)
    } catch (error) {
      if (required) throw new SetupError(`${purpose} without system packages that apt-get could not install`, error.detail)
      say(`opscope: ${purpose} without system packages that apt-get could not install: ${error.message}`)
      return false
    }
    if (missingPackages(groups).length === 0) return true
  }
  const names = missing.map(hasApt ? pick : (alternatives) => alternatives[0]).join(' ')
  const advice = hasApt ? `run: sudo apt-get install ${names}` : `install what your system calls these Debian packages: ${names}`
  if (required) throw new SetupError(`${purpose} without some system packages; ${advice}`)
  say(`opscope: ${purpose} without some system packages; ${advice}`)
  return false
}
