/**
 * npm run bench [-- name...]: runs test/bench/<name>.bench.ts, prints its figures as a table and writes them to
 * test/bench/results/<name>.json with date, commit and machine. Without a name: every bench.
 *
 * A bench is one file that exports `default async ({ args, say }) => Figure[]` (test/bench/bench.ts has the types). It
 * is loaded through Vite, so TypeScript, '@core/...' and import.meta.glob work; nothing has to be built first.
 * Arguments that hold a `=` (count=1000, devices=cuda:0, results=FOLDER) are passed on in `args`.
 * Where there is no Vite, out/bench/bench.mjs does the same (npm run bench:bundle).
 * Benches of the app speak with its window through WebSocket, which Node 20 lacks: there they run by the Node of node_modules.
 */
import { readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'
import { benchWords, runBench } from './lib/bench-run.mjs'
import { nodeBinary } from './lib/paths.mjs'
import { runAttached } from './lib/steps.mjs'

if (!globalThis.WebSocket && nodeBinary() !== process.execPath) process.exit(await runAttached(nodeBinary(), process.argv.slice(1), { cwd: process.cwd() }))

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = join(root, 'test', 'bench')
const known = readdirSync(folder).filter((name) => name.endsWith('.bench.ts')).map((name) => name.slice(0, -'.bench.ts'.length)).sort()

let words
try {
  words = benchWords(process.argv.slice(2), known)
} catch (error) {
  console.error(`opscope: ${error.message}`)
  process.exit(2)
}
for (const name of words.names) {
  const { module } = await runnerImport(join(folder, `${name}.bench.ts`), { root, configFile: false, logLevel: 'error', resolve: { alias: { '@core': join(root, 'core') } } })
  await runBench({ name, bench: module.default, args: words.args, root, results: resolve(words.args.results ?? join(folder, 'results')) })
}
process.exit(0)
