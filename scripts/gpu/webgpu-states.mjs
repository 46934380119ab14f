/**
 * Checks on a machine with an NVIDIA GPU that WebGPU samples carry the state of the card, beside CUDA's:
 *   node scripts/gpu/webgpu-states.mjs [other] [cost]
 * With `other` a second Opscope computes on the same card meanwhile: every WebGPU batch must then know of it. With `cost`
 * the real app is opened (needs playwright-core, and a display or Xvfb), and what the watch adds to a batch is timed from its hidden page.
 * Needs Electron (ELECTRON_OVERRIDE_DIST_PATH or the one set-up fetched) and a built app. Exits with 1 where something is missing.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { hasDisplay, sandboxSwitches, startXvfb } from '../lib/display.mjs'
import { electronBinary } from '../lib/electron.mjs'

const root = resolve(import.meta.dirname, '../..')
const wishes = new Set(process.argv.slice(2))
const electron = electronBinary()
if ('reason' in electron) throw new Error(electron.reason)

const freshFolder = () => mkdtempSync(join(tmpdir(), 'opscope-states-'))
const program = join(root, 'out/main/cli.js')
const environment = (dataDir) => ({ ...process.env, OPSCOPE_DATA_DIR: dataDir, OPSCOPE_ELECTRON: electron.path })
const sweep = (backends) => ['run', '--ops', 'add,matmul', '--sizes', 'vector=2^24;gemm=2048', '--dtypes', 'f32', '--modes', 'cold,hot', '--backends', backends]

const faults = []
const expect = (right, what) => right || faults.push(what)

/** Runs the sweep and gives its results as they are stored. */
function measure(backends) {
  const dataDir = freshFolder()
  execFileSync(process.execPath, [program, ...sweep(backends), '--preset', 'standard'], { env: environment(dataDir), stdio: ['ignore', 'ignore', 'inherit'] })
  const text = execFileSync(process.execPath, [program, 'export', 'last', '--format', 'json'], { env: environment(dataDir), encoding: 'utf8', maxBuffer: 2 ** 28 })
  return JSON.parse(text).results
}

const READINGS = ['smClockMhz', 'memClockMhz', 'temperatureC', 'powerW', 'throttle', 'foreignProcesses']
const range = (values) => (values.length === 0 ? '-' : `${Math.min(...values)}..${Math.max(...values)}`)

function show(result) {
  const states = (result.deviceStates ?? []).map(({ state }) => state)
  const known = (name) => states.map((state) => state[name]).filter((value) => value !== undefined)
  const energy = known('energyJ')
  console.log(
    [result.case.backend.padEnd(7), result.case.op.padEnd(7), result.case.mode.padEnd(5), `${(result.summary?.medianNs / 1000).toFixed(1)} us`.padEnd(12), `grade ${result.grade ?? result.status}`, `${states.length} batches`,
      `SM ${range(known('smClockMhz').map(Math.round))} MHz`, `memory ${range(known('memClockMhz'))} MHz`, `${range(known('temperatureC'))} °C`, `${range(known('powerW').map(Math.round))} W`,
      `energy in ${energy.length}: ${energy.reduce((sum, joules) => sum + joules, 0).toFixed(0)} J`, `throttle: ${[...new Set(known('throttle').flat())].join(', ') || 'none'}`, `others: ${range(known('foreignProcesses'))}`].join(' | '),
  )
  for (const reason of result.gradeReasons ?? []) console.log(`          ${reason}`)
  return states
}

const name = ({ case: c }) => `${c.backend} ${c.op} ${c.mode}`

function check(results, others) {
  expect(results.some((result) => result.case.backend === 'webgpu' && result.status === 'ok'), 'no WebGPU case was measured')
  for (const result of results) {
    const states = show(result)
    if (result.case.backend !== 'webgpu' || result.status !== 'ok') continue
    expect(states.length > 0, `${name(result)}: no states at all`)
    for (const reading of READINGS) {
      const without = states.filter((state) => state[reading] === undefined).length
      expect(without === 0, `${name(result)}: ${without} of ${states.length} batches have no ${reading}`)
    }
    const seen = states.filter((state) => (state.foreignProcesses ?? 0) > 0).length
    if (others) {
      expect(seen === states.length, `${name(result)}: ${states.length - seen} of ${states.length} batches do not know of the other process`)
      expect(result.labels?.some(({ kind }) => kind === 'disturbed'), `${name(result)}: not labelled as disturbed`)
    } else expect(seen === 0, `${name(result)}: ${seen} of ${states.length} batches take a process of this app for a foreign one`)
  }
}

console.log('CUDA and WebGPU by one command line:')
check(measure('cuda,webgpu'), false)

if (wishes.has('other')) {
  console.log('\nWebGPU while another Opscope computes on the card:')
  const other = spawn(process.execPath, [program, ...sweep('cuda'), '--rule', 'fixed-time=60s', '--max-seconds', '60'], { env: environment(freshFolder()), stdio: 'ignore' })
  // Until it holds a context and has begun to compute.
  await new Promise((done) => setTimeout(done, 5000))
  try {
    check(measure('webgpu'), true)
  } finally {
    other.kill('SIGKILL')
  }
}

if (wishes.has('cost')) {
  const { _electron } = await import('playwright-core')
  const display = hasDisplay() ? {} : { DISPLAY: (await startXvfb()).display }
  const app = await _electron.launch({ executablePath: electron.path, args: [...sandboxSwitches(), root], env: { ...environment(freshFolder()), ...display } })
  const isHidden = (page) => page.url().includes('/webgpu/')
  const page = app.windows().find(isHidden) ?? (await app.waitForEvent('window', isHidden))
  const cost = await page.evaluate(async () => {
    const { watch } = globalThis.opscopeHost
    const adapter = await globalThis.navigator.gpu.requestAdapter({ powerPreference: 'high-performance' })
    const opened = await watch.open(adapter.info.description)
    const times = []
    for (let i = 0; i < 300; i++) {
      watch.begin(false)
      await new Promise((done) => setTimeout(done, 15))
      const from = performance.now()
      await watch.end()
      times.push(performance.now() - from)
    }
    times.sort((a, b) => a - b)
    return { adapter: adapter.info.description, opened, medianMs: times[150], p95Ms: times[285], mostMs: times.at(-1) }
  })
  console.log('\nwhat the watch adds to a batch:', cost)
  await app.close()
}

for (const fault of faults) console.error(`WRONG: ${fault}`)
console.log(faults.length === 0 ? '\nright: every WebGPU batch carries the state of the card' : '')
process.exit(faults.length === 0 ? 0 : 1)
