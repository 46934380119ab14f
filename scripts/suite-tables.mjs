/**
 * node scripts/suite-tables.mjs [--write]: what the suites of test/bench/results/suites found, as tables with their published figures
 * beside ours. With --write they go into docs/suites.md, between the comments `suite: NAME` and `end`, and those of published figures
 * into README.md, between `published` and `end`.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'

const root = resolve(import.meta.dirname, '..')
const FOLDER = 'test/bench/results/suites'
/** The parts of a report that docs/suites.md shows; the report beside it has all. */
const SHOWN = ['Summary', 'Bandwidth by size class', 'Reductions by axis', 'Launch overhead', 'Bottlenecks', 'Fastest implementation', 'Sum of parts', 'Crossovers', 'Published figures']

const reports = readdirSync(join(root, FOLDER))
  .filter((name) => name.endsWith('.report.json.gz'))
  .map((name) => name.slice(0, -'.report.json.gz'.length))
  .sort()
  .map((name) => ({ name, ...JSON.parse(gunzipSync(readFileSync(join(root, FOLDER, `${name}.report.json.gz`))).toString('utf8')) }))

const cell = (text) => String(text).replaceAll('|', '\\|')
const lines = (columns, rows) => [columns, columns.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')
const table = ({ columns, rows }) => lines(columns, rows.map((row) => row.map(({ text, note }) => (note === undefined ? text : `${text} (${note})`))))

/** `85 of 236 cases, stopped after its time` */
const extent = ({ results, planned, state }) => (state === 'done' ? `all ${planned} cases` : `${results} of ${planned} cases, then its time was up`)
const where = ({ machine, session }) => `${machine}, ${session.createdAt.slice(0, 10)}, ${extent(session)}`

/** How often each implementation is the fastest, by operation: the report has every size. */
function fastest({ title, columns, rows }) {
  const names = [...new Set(rows.map(([, { text }]) => text))].sort()
  const ops = [...new Set(rows.map(([{ text }]) => text.split(' ')[0]))]
  const wins = (op, name) => rows.filter(([what, who]) => what.text.split(' ')[0] === op && who.text === name).length
  const cells = ops.map((op) => [op, ...names.map((name) => String(wins(op, name)))].map((text) => ({ text })))
  return { title, text: 'Sizes at which each is the fastest, by operation.', columns: [columns[0], ...names], rows: cells }
}

function section(report) {
  const parts = report.parts.filter(({ title, columns }) => title === 'Summary' || (SHOWN.includes(title) && columns)).map((part) => (part.title === 'Fastest implementation' ? fastest(part) : part))
  const session = `${FOLDER}/${report.name}.session.json.gz`
  const files = [`[report](../${FOLDER}/${report.name}.md)`, ...(existsSync(join(root, session)) ? [`[session](../${session})`] : [])].join(', ')
  return [`${where(report)} (${files}).`, ...parts.map(({ title, text, columns, rows }) => [title === 'Summary' ? text : `${title}. ${text ?? ''}`.trim(), ...(columns ? [table({ columns, rows })] : [])].join('\n\n'))].join('\n\n')
}

/** How the columns of published times end. */
const PUBLISHED = ' (published)'

/** Every published figure that some result answers: the published times, and the measured ones by implementation. */
function published() {
  const rows = reports.flatMap((report) => {
    const part = report.parts.find(({ title }) => title === 'Published figures')
    if (!part?.columns) return []
    return part.rows.flatMap(([what, ...cells]) => {
      const named = cells.flatMap(({ text }, i) => (text === '–' ? [] : [{ text, column: part.columns[i + 1] }]))
      const isPublished = ({ column }) => column.endsWith(PUBLISHED)
      const theirs = [...named.filter(isPublished).map(({ text, column }) => `${column.slice(0, -PUBLISHED.length)} ${text}`), ...(what.note ? [what.note.replace('published: ', '')] : [])]
      const measured = named.filter((one) => !isPublished(one)).map(({ text, column }) => `${column} ${text}`)
      return measured.length === 0 ? [] : [[report.suite.title, what.text, theirs.join(', '), measured.join(', '), report.machine.split(', ').at(-1)]]
    })
  })
  // A suite may lie there twice, of two machines: the row with more implementations stands, or the first.
  const best = new Map()
  const implementations = (row) => row?.[3].split(', ').length ?? 0
  for (const row of rows) {
    const key = `${row[0]} ${row[1]}`
    if (implementations(best.get(key)) < implementations(row)) best.set(key, row)
  }
  return lines(['suite', 'case', 'published', 'measured (median)', 'on'], [...best.values()])
}

const missing = (name) => {
  throw new Error(`${FOLDER} has no report of ${name}`)
}

const fill = (path, pattern, text) => {
  const file = join(root, path)
  writeFileSync(file, readFileSync(file, 'utf8').replace(pattern, (whole, begin, name, end) => `${begin}\n${text(name) ?? whole}\n${end}`))
}

if (process.argv.includes('--write')) {
  fill('docs/suites.md', /(<!-- suite: ([\w-]+) -->)[\s\S]*?(<!-- end -->)/g, (name) => section(reports.find((report) => report.name === name) ?? missing(name)))
  fill('README.md', /(<!-- (published) -->)[\s\S]*?(<!-- end -->)/g, published)
} else {
  for (const report of reports) console.log(`${report.suite.title}: ${where(report)}\n`)
  console.log(published())
}
