/**
 * Two GPUs of one host: whether cases that are measured side by side, with a process for each GPU, have the medians of the
 * same cases measured in turn, and what the link between the GPUs carries.
 *   node scripts/gpu/two-gpus.mjs OUT_FOLDER
 * Needs two NVIDIA GPUs, the built command line (out/) and the addon. With NATS_SERVER, the path of a nats-server, the same is
 * measured through an agent of a fleet. Writes OUT_FOLDER/two-gpus.json after each session; the next call measures those that are missing; OPSCOPE_COMMIT names the commit where there is no git.
 */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const root = resolve(import.meta.dirname, '../..')
const out = resolve(process.argv[2] ?? '.')
mkdirSync(out, { recursive: true })
const env = { ...process.env, OPSCOPE_DATA_DIR: mkdtempSync(join(os.tmpdir(), 'opscope-gpus-')) }
const CLI = join(root, 'out/main/cli.js')
const cli = (...words) => execFileSync(process.execPath, [CLI, ...words], { env, encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'inherit'], timeout: 150_000 })
const say = (text) => console.log(`${new Date().toISOString().slice(11, 19)} ${text}`)

const SWEEP = ['--ops', 'add,softmax,matmul', '--sizes', 'vector=2^20,2^26;matrix=16384x4096;gemm=4096', '--dtypes', 'f32', '--modes', 'hot,cold', '--preset', 'quick']

/** Medians of the last session in ns, by case and GPU, and what failed. */
function lastSession(name) {
  const file = join(out, `${name}.json`)
  cli('export', 'last', '--format', 'json', '--redact', 'host,user,paths', '--out', file)
  const { results } = JSON.parse(readFileSync(file, 'utf8'))
  const medians = new Map()
  for (const { case: c, status, summary } of results) {
    const key = `${c.op} ${Object.values(c.params).join('x')} ${c.impl} ${c.mode} ${c.device.split('/').at(-1)}`
    if (status === 'ok') medians.set(key, summary.medianNs)
    else console.log(`  ${status}: ${key}`)
  }
  return medians
}

function local(name, ...options) {
  const from = performance.now()
  cli('run', '--name', name, '--devices', 'cuda:0,cuda:1', ...options)
  const seconds = (performance.now() - from) / 1000
  say(`${name}: ${seconds.toFixed(1)} s`)
  return { name, seconds, medians: lastSession(name) }
}

async function fleet(server, gpus) {
  const name = `agent-${gpus}`
  const agent = spawn(process.execPath, [CLI, 'fleet', 'up', '--server', server, '--name', 'node', '--backends', 'cuda', '--gpus', gpus], { env: { ...env, OPSCOPE_DATA_DIR: mkdtempSync(join(os.tmpdir(), 'opscope-agent-')) }, stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = new Promise((done) => agent.once('exit', done))
  try {
    for (let i = 0; i < 20 && !JSON.parse(cli('fleet', 'status', '--server', server, '--json')).hosts.length; i++) await sleep(200)
    const from = performance.now()
    cli('fleet', 'run', '--server', server, '--name', name, '--impls', 'kernel', ...SWEEP)
    const seconds = (performance.now() - from) / 1000
    say(`${name}: ${seconds.toFixed(1)} s`)
    return { name, seconds, medians: lastSession(name) }
  } finally {
    agent.kill('SIGTERM')
    await Promise.race([ended, sleep(5000)])
    agent.kill('SIGKILL')
  }
}

/** Ratios of the medians of `other` to those of `base`, as percent beyond 1. */
function differences(base, other) {
  const found = [...base.medians].flatMap(([key, ns]) => (other.medians.has(key) ? [{ key, percent: (other.medians.get(key) / ns - 1) * 100 }] : []))
  const sizes = found.map(({ percent }) => Math.abs(percent)).sort((a, b) => a - b)
  return {
    base: base.name, other: other.name, cases: found.length,
    medianPercent: sizes[sizes.length >> 1], p90Percent: sizes[Math.floor(sizes.length * 0.9)], largestPercent: sizes.at(-1),
    within1: sizes.filter((size) => size <= 1).length, within05: sizes.filter((size) => size <= 0.5).length,
    signedMeanPercent: found.reduce((sum, { percent }) => sum + percent, 0) / found.length,
    worst: found.sort((a, b) => Math.abs(b.percent) - Math.abs(a.percent)).slice(0, 6),
  }
}

const devices = JSON.parse(cli('list', 'devices', '--backends', 'cuda', '--json')).filter(({ available }) => available.ok)
if (devices.length < 2) throw new Error(`two GPUs are needed; there ${devices.length === 1 ? 'is one' : 'is none'}`)
say(devices.map(({ id, name, impls }) => `${id} ${name}: ${impls.map(({ id }) => id).join(', ')}`).join('; '))

/** Sessions of an earlier call that its time ended. */
const earlier = existsSync(join(out, 'two-gpus.json')) ? JSON.parse(readFileSync(join(out, 'two-gpus.json'), 'utf8')) : { sessions: [], links: [] }
const sessions = earlier.sessions.map(({ name, seconds, mediansNs }) => ({ name, seconds, medians: new Map(Object.entries(mediansNs)) }))
let links = earlier.links
const missing = (name) => !sessions.some((one) => one.name === name)
const PAIRS = [['in-turn-1', 'in-turn-2'], ['in-turn-1', 'side-by-side-1'], ['in-turn-2', 'side-by-side-2'], ['side-by-side-1', 'side-by-side-2'], ['agent-in-turn', 'agent-side-by-side'], ['in-turn-1', 'agent-side-by-side']]

/** Written after each step: what is there when time runs out is kept. */
function write() {
  const named = (name) => sessions.find((one) => one.name === name)
  const compared = PAIRS.flatMap(([base, other]) => (named(base) && named(other) ? [differences(named(base), named(other))] : []))
  const record = {
    date: new Date().toISOString(), commit: process.env.OPSCOPE_COMMIT, devices: devices.map(({ id, name, driver, facts }) => ({ id, name, driver, facts: facts.filter(({ name }) => !/UUID|Serial/.test(name)) })),
    machine: { cpu: os.cpus()[0]?.model, logicalCpus: os.availableParallelism(), node: process.versions.node },
    sweep: SWEEP.join(' '), links, sessions: sessions.map(({ name, seconds, medians }) => ({ name, seconds, mediansNs: Object.fromEntries(medians) })), compared,
  }
  writeFileSync(join(out, 'two-gpus.json'), `${JSON.stringify(record, null, 1)}\n`)
  return compared
}
const measure = (one) => {
  sessions.push(one)
  write()
}

const both = (n) => {
  if (missing(`in-turn-${n}`)) measure(local(`in-turn-${n}`, '--gpus', 'in-turn', '--impls', 'kernel', ...SWEEP))
  if (missing(`side-by-side-${n}`)) measure(local(`side-by-side-${n}`, '--gpus', 'side-by-side', '--impls', 'kernel', ...SWEEP))
}
both(1)
if (process.env.NATS_SERVER) {
  const folder = mkdtempSync(join(os.tmpdir(), 'nats-'))
  writeFileSync(join(folder, 'conf'), `listen: 127.0.0.1:4999\njetstream { store_dir: ${folder}/store }\n`)
  const nats = spawn(process.env.NATS_SERVER, ['-c', join(folder, 'conf')], { stdio: 'ignore' })
  try {
    await sleep(500)
    for (const gpus of ['in-turn', 'side-by-side']) if (missing(`agent-${gpus}`)) measure(await fleet('nats://127.0.0.1:4999', gpus))
  } finally {
    nats.kill('SIGKILL')
  }
}
if (links.length === 0 && devices.some(({ impls }) => impls.some(({ id }) => id.startsWith('peer-')))) {
  const { medians } = local('peer', '--ops', 'copy', '--sizes', 'vector=2^20,2^26', '--modes', 'hot', '--impls', 'kernel,peer-0,peer-1', '--preset', 'quick', '--gpus', 'in-turn')
  links = [...medians].map(([key, ns]) => ({ key, GBps: (2 * 4 * Number(key.split(' ')[1])) / ns }))
  write()
  console.table(links)
}
both(2)

const compared = write()
console.table(compared.map((pair) => ({ ...pair, worst: pair.worst.length })))
for (const { other, base, worst } of compared) console.log(`${other} against ${base}: ${worst.map(({ key, percent }) => `${key} ${percent.toFixed(2)} %`).join('; ')}`)
say(`written to ${join(out, 'two-gpus.json')}`)
process.exit(0)
