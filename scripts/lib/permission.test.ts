import { beforeEach, describe, expect, it } from 'vitest'
import { createPermission, type Here } from './permission.mjs'

const COMMANDS = [['apt-get', 'update'], ['apt-get', 'install', '-y', 'cmake']]
let questions: string[]
let told: string[]
beforeEach(() => {
  questions = []
  told = []
})

const permission = (here: Partial<Here>, agrees = true) =>
  createPermission({ root: false, ci: false, terminal: true, hasSudo: () => true, sudoWorks: () => true, say: (line) => told.push(line), ...here, ask: (question) => { questions.push(question); return Promise.resolve(agrees) } })

describe('where sudo is needed and there is a terminal', () => {
  it('shows the exact commands and asks, although sudo would need no password', async () => {
    expect(await permission({})(COMMANDS)).toEqual(['sudo'])
    expect(questions).toEqual([expect.stringContaining('\n  sudo apt-get update\n  sudo apt-get install -y cmake\n')])
  })

  it('asks once, whatever the answer', async () => {
    for (const agrees of [true, false]) {
      questions = []
      const may = permission({}, agrees)
      expect(await may(COMMANDS)).toEqual(agrees ? ['sudo'] : undefined)
      expect(await may([['apt-get', 'install', 'xvfb']])).toEqual(agrees ? ['sudo'] : undefined)
      expect(questions).toHaveLength(1)
    }
  })

  it('asks for nothing that cannot be done', async () => {
    expect(await permission({ hasSudo: () => false })(COMMANDS)).toBeUndefined()
    expect(questions).toEqual([])
  })
})

it.each<[string, Partial<Here>, string[] | undefined]>([
  ['as root', { root: true }, []],
  ['in CI', { ci: true }, ['sudo', '-n']],
  ['without a terminal', { terminal: false }, ['sudo', '-n']],
  ['without a terminal, where sudo needs a password', { terminal: false, sudoWorks: () => false }, undefined],
  ['with OPSCOPE_SETUP=auto', { setup: 'auto' }, ['sudo', '-n']],
  ['with OPSCOPE_SETUP=never', { setup: 'never' }, undefined],
  ['with OPSCOPE_SETUP=never as root', { setup: 'never', root: true }, undefined],
  ['with OPSCOPE_SETUP=ask and no terminal', { setup: 'ask', terminal: false }, undefined],
  ['with OPSCOPE_SETUP that is not known', { setup: 'yes' }, undefined],
])('asks nobody %s', async (_where, here, expected) => {
  expect(await permission(here)(COMMANDS)).toEqual(expected)
  expect(questions).toEqual([])
})

it('asks root too with OPSCOPE_SETUP=ask, and names a setting that is not known', async () => {
  expect(await permission({ setup: 'ask', root: true })(COMMANDS)).toEqual([])
  expect(questions).toEqual([expect.stringContaining('\n  apt-get update\n')])
  permission({ setup: 'yes' })
  expect(told).toEqual(['opscope: OPSCOPE_SETUP is one of auto, ask, never; "yes" is taken as never'])
})
