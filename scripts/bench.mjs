/**
 * npm run bench [-- name...]: runs test/bench/<name>.bench.ts, prints its figures as a table and writes them to
 * test/bench/results/<name>.json with date, commit and machine. Without a name: every bench.
 *
 * A bench is one file that exports `default async ({ args, say }) => Figure[]` (test/bench/bench.ts has the types). It
 * is loaded through Vite, so TypeScript, '@core/...' and import.meta.glob work; nothing has to be built first.
 * `--` separated arguments after the names that hold a `=` (count=1000) are passed on in `args`.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = join(root, 'test', 'bench')
const known = readdirSync(folder).filter((name) => name.endsWith('.bench.ts')).map((name) => name.slice(0, -'.bench.ts'.length)).sort()

const given = process.argv.slice(2)
const args = Object.fromEntries(given.filter((arg) => arg.includes('=')).map((arg) => [arg.slice(0, arg.indexOf('=')), arg.slice(arg.indexOf('=') + 1)]))
const names = given.filter((arg) => !arg.includes('='))
const unknown = names.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`opscope: there is no bench "${unknown[0]}"; expected one of ${known.join(', ')}`)
  process.exit(2)
}

function commit() {
  try {
    const git = (...words) => execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--untracked-files=no') ? ' with changes' : '')
  } catch {
    return undefined
  }
}

const machine = () => ({ cpu: os.cpus()[0]?.model ?? 'unknown', logicalCpus: os.availableParallelism(), memoryGiB: Math.round(os.totalmem() / 2 ** 30), os: `${os.type()} ${os.release()}`, node: process.versions.node })

const shown = (value) => (Number.isInteger(value) ? String(value) : value.toPrecision(4))
const met = ({ value, aim, better }) => (aim === undefined ? '' : (better === 'more' ? value >= aim : value <= aim) ? 'met' : 'missed')

for (const name of names.length > 0 ? names : known) {
  console.log(`\n${name}`)
  const { module } = await runnerImport(join(folder, `${name}.bench.ts`), { root, configFile: false, logLevel: 'error', resolve: { alias: { '@core': join(root, 'core') } } })
  const figures = await module.default({ args, say: (text) => console.log(`  ${text}`) })
  console.table(figures.map((figure) => ({ figure: figure.name, value: shown(figure.value), unit: figure.unit, aim: figure.aim ?? '', '': met(figure) })))
  const results = join(folder, 'results')
  if (!existsSync(results)) mkdirSync(results, { recursive: true })
  writeFileSync(join(results, `${name}.json`), `${JSON.stringify({ bench: name, date: new Date().toISOString(), commit: commit(), machine: machine(), figures }, null, 2)}\n`)
}
process.exit(0)
