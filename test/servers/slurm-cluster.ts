import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const PROGRAMS = ['/usr/sbin/slurmctld', '/usr/sbin/slurmd', '/usr/bin/sbatch']
/** Why a real Slurm cannot be tested here; undefined where it can. */
export const noSlurm = PROGRAMS.some((path) => !existsSync(path))
  ? 'slurmctld, slurmd and slurm-client are not installed'
  : process.getuid?.() !== 0 || spawnSync('unshare', ['-n', '-u', '-m', 'true']).status !== 0 || spawnSync('ip', ['netns', 'list']).status !== 0
    ? 'namespaces cannot be made'
    : undefined

function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`)
  return stdout
}

/** slurmctld here, and two slurmd in namespaces of their own (network, host name, mounts), each a node with one processor. */
export class SlurmCluster {
  readonly folder = mkdtempSync(join(tmpdir(), 'opscope-slurm-'))
  readonly env = { SLURM_CONF: join(this.folder, 'slurm.conf') }
  readonly #processes = new Map<string, ChildProcess>()

  static async start(): Promise<SlurmCluster> {
    const cluster = new SlurmCluster()
    const { folder, env } = cluster
    run('ip', 'link', 'add', 'oslurm', 'type', 'bridge')
    run('ip', 'addr', 'add', '10.232.0.1/24', 'dev', 'oslurm')
    run('ip', 'link', 'set', 'oslurm', 'up')
    mkdirSync(join(folder, 'state'))
    writeFileSync(join(folder, 'cgroup.conf'), 'CgroupPlugin=cgroup/v1\n')
    writeFileSync(env.SLURM_CONF, `
ClusterName=opscope
SlurmctldHost=${hostname()}(10.232.0.1)
SlurmctldPort=17817
SlurmdPort=17818
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=10
SlurmUser=root
SlurmdUser=root
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/spool-%n
SlurmctldPidFile=${folder}/slurmctld.pid
SlurmdPidFile=${folder}/slurmd-%n.pid
SlurmctldLogFile=${folder}/slurmctld.log
SlurmdLogFile=${folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=requeue_setup_env_fail,bf_interval=1,sched_interval=5
MpiDefault=none
SlurmdTimeout=10
KillWait=2
NodeName=n1 NodeAddr=10.232.0.11 CPUs=1 RealMemory=500 State=UNKNOWN
NodeName=n2 NodeAddr=10.232.0.12 CPUs=1 RealMemory=500 State=UNKNOWN
PartitionName=debug Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
`)
    cluster.#start('slurmctld', '/usr/sbin/slurmctld', '-D', '-f', env.SLURM_CONF)
    for (const n of [1, 2]) {
      mkdirSync(join(folder, `spool-n${n}`))
      run('ip', 'netns', 'add', `oslurm-n${n}`)
      run('ip', 'link', 'add', `oslurm-v${n}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', `oslurm-n${n}`)
      run('ip', 'link', 'set', `oslurm-v${n}`, 'master', 'oslurm', 'up')
      run('ip', '-n', `oslurm-n${n}`, 'addr', 'add', `10.232.0.1${n}/24`, 'dev', 'eth0')
      for (const link of ['eth0', 'lo']) run('ip', '-n', `oslurm-n${n}`, 'link', 'set', link, 'up')
      cluster.#start(`n${n}`, 'ip', 'netns', 'exec', `oslurm-n${n}`, 'unshare', '-u', '-m', 'sh', '-c', `mount -t tmpfs none /sys/fs/cgroup; hostname n${n}; exec /usr/sbin/slurmd -D -f ${env.SLURM_CONF}`)
    }
    for (let i = 0; i < 120; i++) {
      if (/\b2\s+idle\b/.test(spawnSync('sinfo', { encoding: 'utf8', env: { ...process.env, ...env } }).stdout)) return cluster
      await sleep(500)
    }
    throw new Error('the nodes of Slurm did not come up')
  }

  /** States of jobs that have not ended: `RUNNING`, `PENDING`; `UNKNOWN` where the controller did not answer. */
  jobs(): string[] {
    const { status, stdout } = spawnSync('squeue', ['-h', '-r', '-o', '%T'], { encoding: 'utf8', env: { ...process.env, ...this.env } })
    return status === 0 ? stdout.split('\n').filter(Boolean) : ['UNKNOWN']
  }

  /** Ends a node as a power cut would. */
  kill(node: string): void {
    for (const pid of run('ip', 'netns', 'pids', `oslurm-${node}`).split('\n').filter(Boolean)) process.kill(Number(pid), 'SIGKILL')
  }

  stop(): void {
    for (const n of [1, 2]) {
      this.kill(`n${n}`)
      spawnSync('ip', ['netns', 'del', `oslurm-n${n}`])
      spawnSync('ip', ['link', 'del', `oslurm-v${n}`])
    }
    for (const child of this.#processes.values()) child.kill('SIGKILL')
    spawnSync('ip', ['link', 'del', 'oslurm'])
    rmSync(this.folder, { recursive: true, force: true })
  }

  #start(name: string, program: string, ...args: string[]): void {
    this.#processes.set(name, spawn(program, args, { stdio: 'ignore', env: { ...process.env, ...this.env } }))
  }
}
