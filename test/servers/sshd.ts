import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { version } from '../../package.json'
import { APP_FOLDER } from '../e2e/launch'

/** sshd must be started by its whole path. */
const SSHD = ['/usr/sbin/sshd', '/usr/local/sbin/sshd'].find((path) => existsSync(path))
const isRoot = process.getuid?.() === 0
/** Why a real sshd cannot be tested here; undefined where it can. */
export const noSshd = SSHD === undefined ? 'openssh-server is not installed' : spawnSync('ssh', ['-V']).status !== 0 ? 'there is no ssh' : undefined
/** Whether a host with a network of its own can be made. */
export const canNamespace = noSshd === undefined && isRoot && spawnSync('ip', ['netns', 'list']).status === 0 && spawnSync('unshare', ['-n', 'true']).status === 0

function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`)
  return stdout
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })

/**
 * An archive as `npm run package -- --agent` makes one, whose program is this checkout's instead of a copy.
 * `program`: another shell script in its place; `padding`: bytes that make it large.
 */
export function agentFolder(program = `exec "${process.execPath}" "${join(APP_FOLDER, 'out', 'main', 'cli.js')}" "$@"`, padding = 0): string {
  const folder = mkdtempSync(join(tmpdir(), 'opscope-agent-'))
  const stage = join(folder, 'stage')
  mkdirSync(join(stage, 'bin'), { recursive: true })
  writeFileSync(join(stage, 'bin', 'opscope'), `#!/bin/sh\n${program}\n`)
  chmodSync(join(stage, 'bin', 'opscope'), 0o755)
  if (padding > 0) run('dd', 'if=/dev/urandom', `of=${join(stage, 'padding')}`, `bs=${padding}`, 'count=1')
  run('tar', '-czf', join(folder, `opscope-agent-${version}-${process.arch === 'arm64' ? 'linux-arm64' : 'linux-x64'}.tar.gz`), '-C', stage, '.')
  return folder
}

let count = 0
/** Each test file is a process: two may have a host at the same time. */
const NETWORK = `10.${128 + ((process.pid >> 8) & 127)}.${process.pid & 255}`

/** A machine with a real sshd, on loopback or in a network namespace of its own; what the agent is installed to lies in its folder. */
export class SshBox {
  readonly folder = mkdtempSync(join(tmpdir(), 'opscope-sshd-'))
  readonly name = 'gpubox'
  #sshd: ChildProcess | undefined
  #log = ''
  readonly #space: string | undefined

  private constructor(
    readonly port: number,
    private readonly namespaced: boolean,
  ) {
    if (namespaced) {
      const id = `${process.pid % 10_000}${count++}`
      this.#space = `opscope${id}`
      run('ip', 'netns', 'add', this.#space)
      run('ip', 'link', 'add', this.near, 'type', 'veth', 'peer', 'name', 'far', 'netns', this.#space)
      run('ip', 'addr', 'add', `${NETWORK}.1/30`, 'dev', this.near)
      run('ip', 'link', 'set', this.near, 'up')
      this.inside('ip', 'addr', 'add', `${NETWORK}.2/30`, 'dev', 'far')
      this.inside('ip', 'link', 'set', 'far', 'up')
      this.inside('ip', 'link', 'set', 'lo', 'up')
    }
  }

  /** The interface on this side. */
  get near(): string {
    return `near${this.#space?.slice(7)}`
  }

  get address(): string {
    return this.namespaced ? `${NETWORK}.2` : '127.0.0.1'
  }

  /** What a client needs: a config of its own, and where the agent's archive lies. */
  env(agents = agentFolder()): Record<string, string> {
    return { OPSCOPE_SSH_CONFIG: join(this.folder, 'config'), OPSCOPE_AGENT_FOLDER: agents, OPSCOPE_TEST_LINE_SILENCE_MS: '3000' }
  }

  get cache(): string {
    return join(this.folder, 'cache')
  }

  static async start({ namespaced = false } = {}): Promise<SshBox> {
    const box = new SshBox(namespaced ? 2222 : await freePort(), namespaced)
    const { folder, port, address } = box
    run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'user'))
    writeFileSync(join(folder, 'authorized_keys'), readFileSync(join(folder, 'user.pub')))
    mkdirSync(box.cache)
    writeFileSync(join(folder, 'sshd_config'), [
      `Port ${port}`, `ListenAddress ${address}`, `HostKey ${folder}/host`, `AuthorizedKeysFile ${folder}/authorized_keys`, 'StrictModes no', 'UsePAM no', 'PidFile none',
      'PasswordAuthentication no', 'PermitRootLogin prohibit-password', `SetEnv XDG_CACHE_HOME=${box.cache}`, '',
    ].join('\n'))
    writeFileSync(join(folder, 'config'), [
      `Host ${box.name}`, `  HostName ${address}`, `  Port ${port}`, `  User ${userInfo().username}`, `  IdentityFile ${folder}/user`, '  IdentitiesOnly yes', `  UserKnownHostsFile ${folder}/known_hosts`, '  GlobalKnownHostsFile none', '',
    ].join('\n'))
    box.newHostKey()
    await box.up()
    box.trust()
    return box
  }

  newHostKey(): void {
    for (const file of ['host', 'host.pub']) rmSync(join(this.folder, file), { force: true })
    run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(this.folder, 'host'))
  }

  /** Does what a user does who has compared the fingerprint. */
  trust(): void {
    writeFileSync(join(this.folder, 'known_hosts'), `[${this.address}]:${this.port} ${readFileSync(join(this.folder, 'host.pub'), 'utf8')}`)
  }

  distrust(): void {
    writeFileSync(join(this.folder, 'known_hosts'), '')
  }

  async up(): Promise<void> {
    if (isRoot) mkdirSync('/run/sshd', { recursive: true })
    const args = ['-D', '-e', '-f', join(this.folder, 'sshd_config')]
    const child = this.#space ? spawn('ip', ['netns', 'exec', this.#space, SSHD!, ...args], { stdio: ['ignore', 'ignore', 'pipe'] }) : spawn(SSHD!, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    child.stderr?.on('data', (text: Buffer) => (this.#log += text.toString()))
    this.#sshd = child
    for (let i = 0; i < 800; i++) {
      if (await answers(this.address, this.port)) return
      await sleep(50)
    }
    throw new Error(`sshd does not answer: ${this.#log}`)
  }

  /** Ends sshd with the sessions it has. */
  down(): void {
    if (this.#sshd?.pid !== undefined) for (const pid of [...descendants(this.#sshd.pid), this.#sshd.pid]) kill(pid)
    this.#sshd = undefined
  }

  /** The agents that run there now. */
  agents(): number[] {
    const root = this.#sshd?.pid
    return root === undefined ? [] : descendants(root).filter((pid) => /cli\.js\0agent\0/.test(read(`/proc/${pid}/cmdline`)))
  }

  link(state: 'up' | 'down'): void {
    run('ip', 'link', 'set', this.near, state)
  }

  inside(...command: string[]): void {
    run('ip', 'netns', 'exec', this.#space!, ...command)
  }

  stop(): void {
    this.down()
    if (this.#space) {
      run('ip', 'link', 'del', this.near)
      run('ip', 'netns', 'del', this.#space)
    }
    spawnSync('umount', [this.cache], { stdio: 'ignore' })
    rmSync(this.folder, { recursive: true, force: true })
  }
}

const read = (path: string) => {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Gone already.
  }
}

/** Processes below this one. */
function descendants(root: number): number[] {
  const parents = new Map(readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map((name) => [Number(name), Number(read(`/proc/${name}/stat`).split(') ').at(-1)?.split(' ')[1])]))
  const found: number[] = []
  for (const wanted = [root]; wanted.length > 0; ) {
    const parent = wanted.pop()!
    for (const [pid, of] of parents) if (of === parent) [found, wanted].forEach((list) => list.push(pid))
  }
  return found
}

const answers = (host: string, port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, host, () => resolve(true))
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy())
  })
