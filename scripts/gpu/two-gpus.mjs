/**
 * Two GPUs of one host: whether cases that are measured side by side, with a process for each GPU, have the medians of the
 * same cases measured in turn, what the link between the GPUs carries, and how much short cases differ from one session to the next.
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

/** Short cases, whose medians differ most from one process to the next: many sessions of each order, in pairs whose first changes. */
const SHORT = ['--impls', 'kernel', '--ops', 'add', '--sizes', 'vector=2^20', '--dtypes', 'f32', '--modes', 'hot,cold', '--preset', 'quick']
const PAIRS_OF_SHORT = 8
/** 97.5 % quantiles of Student's t by degrees of freedom, from 1. */
const STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]

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
/** Short cases in turn and side by side, one entry for each pair of sessions: medians in ns by case and GPU. */
const pairs = earlier.pairs ?? []
const missing = (name) => !sessions.some((one) => one.name === name)
const PAIRS = [['in-turn-1', 'in-turn-2'], ['in-turn-1', 'side-by-side-1'], ['in-turn-2', 'side-by-side-2'], ['side-by-side-1', 'side-by-side-2'], ['agent-in-turn', 'agent-side-by-side'], ['in-turn-1', 'agent-side-by-side']]

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length
const deviation = (values) => Math.sqrt(values.reduce((sum, value) => sum + (value - mean(values)) ** 2, 0) / (values.length - 1))

/** Of each short case: side by side against in turn, as percent beyond 1 with its 95 % interval over pairs, and the deviation of sessions of one order in percent. */
function comparedPairs() {
  if (pairs.length < 2) return []
  return Object.keys(pairs[0]['in-turn']).map((key) => {
    const of = (order) => pairs.map((pair) => pair[order][key]).filter((ns) => ns !== undefined)
    const percents = pairs.map((pair) => (pair['side-by-side'][key] / pair['in-turn'][key] - 1) * 100)
    const spread = (values) => (deviation(values) / mean(values)) * 100
    return { key, pairs: pairs.length, percent: mean(percents), ciPercent: (STUDENT[Math.min(percents.length, STUDENT.length + 1) - 2] * deviation(percents)) / Math.sqrt(percents.length), inTurnDeviationPercent: spread(of('in-turn')), sideBySideDeviationPercent: spread(of('side-by-side')) }
  })
}

/** Written after each step: what is there when time runs out is kept. */
function write() {
  const named = (name) => sessions.find((one) => one.name === name)
  const compared = PAIRS.flatMap(([base, other]) => (named(base) && named(other) ? [differences(named(base), named(other))] : []))
  const record = {
    date: new Date().toISOString(), commit: process.env.OPSCOPE_COMMIT, devices: devices.map(({ id, name, driver, facts }) => ({ id, name, driver, facts: facts.filter(({ name }) => !/UUID|Serial/.test(name)) })),
    machine: { cpu: os.cpus()[0]?.model, logicalCpus: os.availableParallelism(), node: process.versions.node },
    sweep: SWEEP.join(' '), links, sessions: sessions.map(({ name, seconds, medians }) => ({ name, seconds, mediansNs: Object.fromEntries(medians) })), compared,
    short: SHORT.join(' '), pairs, pairsCompared: comparedPairs(),
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
while (pairs.length < PAIRS_OF_SHORT) {
  const orders = pairs.length % 2 === 0 ? ['in-turn', 'side-by-side'] : ['side-by-side', 'in-turn']
  pairs.push(Object.fromEntries(orders.map((order) => [order, Object.fromEntries(local(`short-${order}`, '--gpus', order, ...SHORT).medians)])))
  write()
}
console.table(comparedPairs())

const compared = write()
console.table(compared.map((pair) => ({ ...pair, worst: pair.worst.length })))
for (const { other, base, worst } of compared) console.log(`${other} against ${base}: ${worst.map(({ key, percent }) => `${key} ${percent.toFixed(2)} %`).join('; ')}`)
say(`written to ${join(out, 'two-gpus.json')}`)
process.exit(0)
