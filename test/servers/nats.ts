import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '@nats-io/transport-node'
import { APP_FOLDER } from '../e2e/launch'

const SERVER = ['/usr/sbin/nats-server', '/usr/bin/nats-server', '/usr/local/bin/nats-server'].find((path) => existsSync(path))
/** Why a real NATS cannot be tested here; undefined where it can. */
export const noNats = SERVER === undefined ? 'nats-server is not installed' : undefined
export const canNamespace = process.getuid?.() === 0 && spawnSync('ip', ['netns', 'list']).status === 0 && spawnSync('unshare', ['-n', 'true']).status === 0

function run(program: string, ...args: string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`)
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })

/** Looks for its readiness, 50 ms apart. */
const START_TRIES = 800

/** A nats-server with JetStream of its own. */
export class Nats {
  readonly folder = mkdtempSync(join(tmpdir(), 'opscope-nats-'))
  #server: ChildProcess | undefined

  private constructor(
    readonly address: string,
    readonly port: number,
  ) {}

  get url(): string {
    return `nats://${this.address}:${this.port}`
  }

  static async start({ address = '127.0.0.1', config = '' } = {}): Promise<Nats> {
    const nats = new Nats(address, await freePort())
    nats.configure(config)
    await nats.up()
    return nats
  }

  /** Holds from its next start on. */
  configure(config: string): void {
    writeFileSync(join(this.folder, 'nats.conf'), `listen: ${this.address}:${this.port}\njetstream { store_dir: ${this.folder}/store }\nlog_file: ${this.folder}/log\n${config}\n`)
  }

  /** Loses all that it has stored; while it is down. */
  wipe(): void {
    rmSync(join(this.folder, 'store'), { recursive: true, force: true })
  }

  get memoryBytes(): number {
    return this.#server?.pid === undefined ? 0 : 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${this.#server.pid}/status`, 'utf8'))?.[1] ?? 0)
  }

  async up(): Promise<void> {
    // That of an earlier start would say at once that this one is ready.
    rmSync(join(this.folder, 'log'), { force: true })
    this.#server = spawn(SERVER!, ['-c', join(this.folder, 'nats.conf')], { stdio: 'ignore' })
    for (let i = 0; i < START_TRIES; i++) {
      if (existsSync(join(this.folder, 'log')) && readFileSync(join(this.folder, 'log'), 'utf8').includes('Server is ready')) return
      await sleep(50)
    }
    throw new Error('nats-server does not start')
  }

  /** Ends the server; once this resolves, its port and its files are free. */
  async kill(): Promise<void> {
    const server = this.#server
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const gone = once(server, 'exit')
    server.kill('SIGKILL')
    await gone
  }

  connect = () => connect({ servers: this.url })

  async stop(): Promise<void> {
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}

const CLI = join(APP_FOLDER, 'out', 'main', 'cli.js')

/** Agents as processes, each in a network namespace of its own on one bridge; the bridge's address is where the server listens. */
export class AgentHosts {
  readonly address = '10.233.0.1'
  readonly folder = mkdtempSync(join(tmpdir(), 'opscope-agents-'))
  readonly #processes = new Map<number, ChildProcess>()
  #stopping = false

  constructor(readonly count: number) {
    run('ip', 'link', 'add', 'ofleet', 'type', 'bridge')
    run('ip', 'addr', 'add', `${this.address}/24`, 'dev', 'ofleet')
    run('ip', 'link', 'set', 'ofleet', 'up')
    for (let i = 1; i <= count; i++) {
      run('ip', 'netns', 'add', `ofleet-n${i}`)
      run('ip', 'link', 'add', `ofleet-v${i}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', `ofleet-n${i}`)
      run('ip', 'link', 'set', `ofleet-v${i}`, 'master', 'ofleet', 'up')
      run('ip', '-n', `ofleet-n${i}`, 'addr', 'add', `10.233.0.${10 + i}/24`, 'dev', 'eth0')
      for (const link of ['eth0', 'lo']) run('ip', '-n', `ofleet-n${i}`, 'link', 'set', link, 'up')
    }
  }

  /** Starts the agent of a host; one that dies is started again, as systemd would. */
  start(i: number, url: string, env: Record<string, string>, ...args: string[]): void {
    const child = spawn('ip', ['netns', 'exec', `ofleet-n${i}`, process.execPath, CLI, 'fleet', 'up', '--server', url, '--insecure', '--name', `n${i}`, ...args], {
      stdio: 'ignore',
      env: { ...process.env, OPSCOPE_DATA_DIR: join(this.folder, `n${i}`), OPSCOPE_TEST_BACKEND: '1', OPSCOPE_PYTHON_ONLY: '', ...env },
    })
    this.#processes.set(i, child)
    child.on('exit', () => {
      if (!this.#stopping) setTimeout(() => !this.#stopping && this.start(i, url, env, ...args), 300)
    })
  }

  /** Ends the agent of a host with SIGKILL. */
  kill(i: number): void {
    this.#processes.get(i)?.kill('SIGKILL')
  }

  link(i: number, state: 'up' | 'down'): void {
    run('ip', 'link', 'set', `ofleet-v${i}`, state)
  }

  stop(): void {
    this.#stopping = true
    for (let i = 1; i <= this.count; i++) {
      for (const pid of spawnSync('ip', ['netns', 'pids', `ofleet-n${i}`], { encoding: 'utf8' }).stdout.split('\n').filter(Boolean)) {
        try {
          process.kill(Number(pid), 'SIGKILL')
        } catch {
          // Gone already.
        }
      }
      spawnSync('ip', ['netns', 'del', `ofleet-n${i}`])
      spawnSync('ip', ['link', 'del', `ofleet-v${i}`])
    }
    spawnSync('ip', ['link', 'del', 'ofleet'])
    rmSync(this.folder, { recursive: true, force: true })
  }
}
