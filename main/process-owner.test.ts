import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeTemporaryFolder } from './process-owner'

let place: string
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'opscope-temporary-'))
})
afterEach(() => rmSync(place, { recursive: true, force: true }))

it('removes what killed processes have left behind, and nothing of those that run or of others', () => {
  const gone = spawnSync(process.execPath, ['-e', '']).pid
  const mine = makeTemporaryFolder('opscope-x', [place])
  const left = [`opscope-x-${gone}-123-AbC123`, `opscope-x-${process.pid}-1-AbC123`]
  const others = [`opscope-y-${gone}-123-AbC123`, 'opscope-x-notes', `opscope-x-${gone}-123-AbC123.txt`]
  for (const name of [...left, ...others]) mkdirSync(join(place, name))
  writeFileSync(join(place, left[0]!, '17'), '')
  const second = makeTemporaryFolder('opscope-x', [place])
  expect(readdirSync(place).sort()).toEqual([...others, ...[mine, second].map((path) => path.slice(place.length + 1))].sort())
})

it('takes the next place where one is missing, and names all when none can be used', () => {
  const missing = join(place, 'missing')
  const made = makeTemporaryFolder('opscope-x', [missing, place])
  expect(existsSync(missing)).toBe(false)
  expect(statSync(made).mode & 0o077).toBe(0)
  expect(() => makeTemporaryFolder('opscope-x', [missing])).toThrow(/no temporary folder could be made \(.*missing: ENOENT.*set TMPDIR/)
})
