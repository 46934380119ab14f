/**
 * node scripts/proof-figures.mjs [FOLDER] [--markdown]: the figures with an aim of the results of benches in a folder
 * (test/bench/results when absent), as short lines, or as the tables of docs/measuring.md.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const PROOFS = ['truth-ladder', 'self-consistency', 'coverage', 'metamorphic', 'time-to-result']
const words = process.argv.slice(2)
const markdown = words.includes('--markdown')
const folder = resolve(words.find((word) => !word.startsWith('--')) ?? join(import.meta.dirname, '../test/bench/results'))

const shown = (value) => (value === null ? 'none' : Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4))))
const isMet = ({ value, aim, better }) => value !== null && (better === 'more' ? value >= aim : value <= aim)

for (const proof of PROOFS) {
  const files = readdirSync(folder).filter((name) => name.startsWith(proof) && name.endsWith('.json')).sort()
  for (const name of files) {
    const { date, commit, machine, seconds, figures } = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    const on = machine.devices?.map((device) => device.name).filter((device, i, all) => all.indexOf(device) === i).join(', ') ?? machine.cpu
    const judged = figures.filter((figure) => figure.aim !== undefined)
    if (markdown) {
      console.log(`\n\`${name}\`: ${on}, ${date.slice(0, 10)}, commit ${commit ?? 'unknown'}, ${Math.round(seconds)} s.\n\n| figure | value | aim | |\n| --- | ---: | ---: | --- |`)
      for (const figure of figures) console.log(`| ${figure.name} | ${shown(figure.value)} ${figure.unit} | ${figure.aim === undefined ? '' : `${figure.better === 'more' ? '≥' : '≤'} ${figure.aim}`} | ${figure.aim === undefined ? '' : isMet(figure) ? 'met' : '**missed**'} |`)
    } else {
      console.log(`${name} (${on}, ${Math.round(seconds)} s): ${judged.filter(isMet).length} of ${judged.length} aims met`)
      for (const figure of judged) console.log(`  ${isMet(figure) ? '  ' : '! '}${figure.name}: ${shown(figure.value)} ${figure.unit}`)
    }
  }
}
