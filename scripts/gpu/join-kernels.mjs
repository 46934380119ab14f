/**
 * node scripts/gpu/join-kernels.mjs FOLDER FILE: one result of the parts FOLDER/<k>/kernels-python.json that processes of
 * python-kernels.sh have checked. Exits 1 when a part is missing or a fault was found.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [folder, file] = process.argv.slice(2)
const parts = readdirSync(folder).filter((name) => /^\d+\.log$/.test(name)).map((name) => join(folder, name.replace('.log', ''), 'kernels-python.json'))
const found = parts.filter((part) => existsSync(part)).map((part) => JSON.parse(readFileSync(part, 'utf8')))
if (found.length === 0) throw new Error(`no part in ${folder} was written`)
/** Counts of all parts add up; the seed is that of all. */
const figures = new Map()
for (const figure of found.flatMap((one) => one.figures)) {
  const known = figures.get(figure.name)
  figures.set(figure.name, known && !figure.name.startsWith('seed') ? { ...known, value: known.value + figure.value } : figure)
}
const rows = found.flatMap((one) => one.rows).sort((a, b) => a.impl.localeCompare(b.impl) || a.op.localeCompare(b.op) || a.dtype.localeCompare(b.dtype))
const record = { ...found[0], args: { ...found[0].args, share: undefined }, seconds: Math.max(...found.map(({ seconds }) => seconds)), figures: [...figures.values()] }
delete record.rows
writeFileSync(file, `${JSON.stringify(record, null, 2).slice(0, -2)},\n  "rows": [\n${rows.map((row) => `    ${JSON.stringify(row)}`).join(',\n')}\n  ]\n}\n`)
for (const impl of new Set(rows.map((row) => row.impl))) {
  const own = rows.filter((row) => row.impl === impl)
  const sum = (name) => own.reduce((total, row) => total + (row[name] ?? 0), 0)
  console.log(`${impl}: ${new Set(own.map(({ op }) => op)).size} operations, ${sum('cases')} cases, ${sum('faults')} faults, ${sum('refused')} refused`)
}
for (const figure of figures.values()) console.log(`${figure.name}: ${figure.value}`)
const missing = parts.length - found.length
if (missing > 0) console.error(`${missing} of ${parts.length} parts are missing`)
process.exit(missing > 0 || [...figures.values()].some(({ aim, value }) => aim === 0 && value > 0) ? 1 : 0)
