import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'

/**
 * Words of the command line of a bench: those with a `=` are its arguments, the others names of benches.
 * @param {readonly string[]} words
 * @param {readonly string[]} known
 * @returns {{ names: string[], args: Record<string, string> }} every known name where none was given; throws for an unknown one
 */
export function benchWords(words, known) {
  const args = Object.fromEntries(words.filter((word) => word.includes('=')).map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]))
  const names = words.filter((word) => !word.includes('='))
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new Error(`there is no bench "${unknown}"; expected one of ${known.join(', ')}`)
  return { names: names.length > 0 ? names : [...known], args }
}

/** The commit of a checkout, or OPSCOPE_COMMIT where there is none. */
function commit(root) {
  if (process.env.OPSCOPE_COMMIT) return process.env.OPSCOPE_COMMIT
  try {
    const git = (...words) => execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--untracked-files=no') ? ' with changes' : '')
  } catch {
    return undefined
  }
}

const deviceRecord = ({ id, name, driver, facts }) => ({ id, name, ...(driver === undefined ? {} : { driver }), facts: Object.fromEntries(facts.map((fact) => [fact.name, fact.value])) })

/** The machine, and the devices a bench measured on. */
function machineRecord(devices) {
  const record = { cpu: os.cpus()[0]?.model ?? 'unknown', logicalCpus: os.availableParallelism(), memoryGiB: Math.round(os.totalmem() / 2 ** 30), os: `${os.type()} ${os.release()}`, node: process.versions.node, load: Number((os.loadavg()[0] ?? 0).toFixed(2)) }
  return devices.length > 0 ? { ...record, devices: devices.map(deviceRecord) } : record
}

const shown = (value) => (Number.isInteger(value) ? String(value) : value.toPrecision(4))
const met = ({ value, aim, better }) => (aim === undefined ? '' : (better === 'more' ? value >= aim : value <= aim) ? 'met' : 'missed')

/** Figures indented for reading, rows one per line: a ladder of a hundred rows stays readable and diffs well. */
function resultText({ rows, ...record }) {
  const head = JSON.stringify(record, null, 2)
  if (rows === undefined) return `${head}\n`
  return `${head.slice(0, -2)},\n  "rows": [\n${rows.map((row) => `    ${JSON.stringify(row)}`).join(',\n')}\n  ]\n}\n`
}

/**
 * Runs one bench, prints its figures as a table and writes them with date, commit and machine to
 * `<results>/<name>.json`, or `<name>-cuda-webgpu.json` where args.devices names more than the processor. A bench that judged
 * an earlier result again keeps that one's date, commit and machine.
 * @param {{ name: string, bench: import('../../test/bench/bench').Bench, args: Record<string, string>, root: string, results: string }} what
 */
export async function runBench({ name, bench, args, root, results }) {
  console.log(`\n${name}`)
  const from = performance.now()
  const found = await bench({ args, say: (text) => console.log(`  ${text}`) })
  const { figures, rows, devices = [], record: earlier } = Array.isArray(found) ? { figures: found } : found
  const now = new Date().toISOString()
  const asked = Object.fromEntries(Object.entries(args).filter(([name]) => name !== 'results'))
  const made = { date: now, commit: commit(root), args: asked, seconds: Number(((performance.now() - from) / 1000).toFixed(1)), machine: machineRecord(devices) }
  const record = earlier ? { date: earlier.date, commit: earlier.commit, judgedAgain: { date: now, commit: made.commit }, args: earlier.args, seconds: earlier.seconds, machine: earlier.machine } : made
  console.table(figures.map((figure) => ({ figure: figure.name, value: shown(figure.value), unit: figure.unit, aim: figure.aim ?? '', '': met(figure) })))
  const others = [...new Set((record.args.devices ?? '').split(',').map((id) => id.split(':')[0]).filter((id) => id !== '' && id !== 'cpu'))]
  mkdirSync(results, { recursive: true })
  const file = join(results, `${[name, ...others].join('-')}.json`)
  writeFileSync(file, resultText({ bench: name, ...record, figures, rows }))
  console.log(`  ${record.seconds} s; written to ${file}`)
}
