/**
 * node scripts/proof-figures.mjs [FOLDER]: the figures with an aim of the proofs' results in a folder (test/bench/results
 * when absent), as short lines. With --write they go into the tables of docs/measuring.md and docs/figures.md instead, between the
 * comments `figures: NAME` and `end`, with those published beside them.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const PROOFS = ['truth-ladder', 'self-consistency', 'coverage', 'metamorphic', 'time-to-result', 'torch-agreement', 'layout', 'red-team', 'verify-cost', 'estimate', 'energy', 'noisy-host', 'webgpu-vs-cuda', 'rates']
const root = resolve(import.meta.dirname, '..')
const words = process.argv.slice(2)
const folder = resolve(words.find((word) => !word.startsWith('--')) ?? join(root, 'test/bench/results'))

const shown = (value) => (value === null ? 'none' : Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4))))
const isMet = ({ value, aim, better }) => value !== null && (better === 'more' ? value >= aim : value <= aim)

const of = (proof) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json') && (name === `${proof}.json` || name.startsWith(`${proof}-`)))
    .sort()
    .map((name) => ({ name, ...JSON.parse(readFileSync(join(folder, name), 'utf8')) }))

const where = ({ machine }) => [...new Set(machine.devices?.length ? machine.devices.map((device) => device.name) : [machine.cpu])].join(', ')

function table(result) {
  const { name, date, commit, seconds, figures } = result
  const rows = figures.filter((figure) => figure.aim !== undefined || figure.published)
  const line = (figure) => `| ${figure.name} | ${shown(figure.value)}${figure.unit === '' ? '' : ` ${figure.unit}`} | ${figure.aim === undefined ? '' : `${figure.better === 'more' ? '≥' : '≤'} ${figure.aim}`} | ${figure.aim === undefined ? '' : isMet(figure) ? 'met' : '**missed**'} |`
  return `${where(result)}, ${date.slice(0, 10)}, commit ${commit ?? 'unknown'}, ${Math.round(seconds)} s ([${name}](../test/bench/results/${name})):\n\n| figure | measured | aim | |\n| --- | ---: | ---: | --- |\n${rows.map(line).join('\n')}\n`
}

if (words.includes('--write')) {
  for (const name of ['measuring.md', 'figures.md']) {
    const file = join(root, 'docs', name)
    const filled = readFileSync(file, 'utf8').replace(/(<!-- figures: ([\w-]+) -->)[\s\S]*?(<!-- end -->)/g, (_, begin, proof, end) => `${begin}\n${of(proof).map(table).join('\n')}${end}`)
    writeFileSync(file, filled)
  }
} else {
  for (const result of PROOFS.flatMap(of)) {
    const judged = result.figures.filter((figure) => figure.aim !== undefined)
    console.log(`${result.name} (${where(result)}, ${Math.round(result.seconds)} s): ${judged.filter(isMet).length} of ${judged.length} aims met`)
    for (const figure of judged) console.log(`  ${isMet(figure) ? '  ' : '! '}${figure.name}: ${shown(figure.value)} ${figure.unit}`)
  }
}
