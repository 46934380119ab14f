/**
 * node scripts/fuzz-tables.mjs [--write] [FILE...]: the tables of drawn shapes in docs/figures.md, which stand there between the comments
 * `drawn: NAME` and `end`, from test/bench/results/shape-fuzz-NAME.json: the speed of our kernels relative to each other side, by class
 * of operation. Prints them without --write, those of FILEs where such are named.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
/** A case counts as slower by the rule of issue and bench: by more than 3 % and 1 us. */
const isSlower = (own, other) => own > 1.03 * other && own > other + 1000

/** Classes of cases (`class` of a row, by how it begins), in the order of the table. */
const CLASSES = [
  ['element-wise', ['vector']],
  ['reductions', ['reduction']],
  ['softmax, norms, losses of rows and their gradients', ['row operation', 'gated', 'batch_norm', 'group_norm']],
  ['pooling', ['pooling']],
  ['convolutions', ['convolution']],
  ['products', ['matmul', 'scaled_matmul']],
  ['attention', ['scaled_dot_product_attention']],
]
const classOf = (row) => CLASSES.find(([, begins]) => begins.some((begin) => row.class.startsWith(begin)))?.[0] ?? row.class

const ratio = (x) => `${x < 9.995 ? x.toFixed(2) : x.toPrecision(3)}x`
const geometricMean = (values) => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)

function cellsOf(rows, other) {
  const pairs = rows.filter((row) => row['now ns'] > 0 && row[`${other} ns`] > 0)
  if (pairs.length === 0) return ['', '', '']
  const speeds = pairs.map((row) => row[`${other} ns`] / row['now ns'])
  return [ratio(geometricMean(speeds)), ratio(Math.min(...speeds)), `${pairs.filter((row) => isSlower(row['now ns'], row[`${other} ns`])).length} of ${pairs.length}`]
}

function table(file) {
  const { machine, date, commit, args, rows } = JSON.parse(readFileSync(file, 'utf8'))
  const others = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((key) => key.endsWith(' ns') && key !== 'now ns').map((key) => key.slice(0, -3))
  const names = [...CLASSES.map(([name]) => name), ...[...new Set(rows.map(classOf))].sort()].filter((name, i, all) => all.indexOf(name) === i && rows.some((row) => classOf(row) === name))
  const groups = [...(names.length > 1 ? [['all', rows]] : []), ...names.map((name) => [name, rows.filter((row) => classOf(row) === name)])]
  const head = ['class', 'cases', ...others.flatMap((other) => [`speed relative to ${other}`, 'slowest', 'slower by more than 3 % and 1 µs'])]
  const lines = [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...groups.map(([name, of]) => [name, String(of.length), ...others.flatMap((other) => cellsOf(of, other))])]
  const what = args.seed === undefined ? (args.cases ?? 'cases of its own') : `seed=${args.seed} count=${args.count}${args.ops === undefined ? '' : ` ops=${args.ops}`}`
  const where = [...new Set(machine.devices?.map(({ name }) => name) ?? [machine.cpu])].join(', ')
  return `${where}, ${date.slice(0, 10)}, commit ${commit}, \`${what}\`:\n\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`
}

const words = process.argv.slice(2)
const files = words.filter((word) => !word.startsWith('--'))
const docs = join(root, 'docs/figures.md')
const marks = /(<!-- drawn: ([\w-]+) -->)[\s\S]*?(<!-- end -->)/g
const published = (name) => join(root, 'test/bench/results', `shape-fuzz-${name}.json`)
const text = readFileSync(docs, 'utf8')
if (words.includes('--write')) writeFileSync(docs, text.replace(marks, (_, begin, name, end) => `${begin}\n${table(published(name))}${end}`))
else for (const file of files.length > 0 ? files : [...text.matchAll(marks)].map(([, , name]) => published(name))) console.log(table(file))
