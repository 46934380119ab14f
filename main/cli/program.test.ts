import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Command } from 'commander'
import { DTYPES } from '@core/case'
import type { Context } from './context'
import { createProgram } from './program'

const program = createProgram({} as Context, () => undefined)
const lower = (command: Command, words: readonly string[]): Command => {
  const next = command.commands.find((one) => one.name() === words[0])
  return next ? lower(next, words.slice(1)) : command
}

/** The help as it is printed, with what stands after the commands. */
function helpText(): string {
  let text = ''
  program.configureOutput({ writeOut: (part) => (text += part) })
  program.outputHelp()
  return text
}

test.each([
  ['the help', helpText().split('\n'), /^ {2}opscope (.*)$/],
  ['docs/command-line.md', readFileSync('docs/command-line.md', 'utf8').split('\n'), /^npm run opscope -- ([^#]*)/],
])('the examples of %s have only options that their commands take', (_name, lines, pattern) => {
  const examples = lines.flatMap((line) => pattern.exec(line)?.[1] ?? [])
  expect(examples.length).toBeGreaterThan(5)
  for (const example of examples) {
    const [own] = example.split(' -- ')
    const command = lower(program, own!.split(' '))
    const known = command.options.map(({ long }) => long).concat('--help')
    for (const [option] of own!.matchAll(/--[a-z][a-z-]*/g)) expect(known, `${option} in: ${example}`).toContain(option)
  }
})

test('the help of run names every dtype', () => {
  expect(lower(program, ['run']).options.find(({ long }) => long === '--dtypes')!.description).toContain(DTYPES.join(', '))
})
