import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeAtomically } from './write'

test('a file is replaced when complete, and stays as it was when the writing fails', () => {
  const folder = mkdtempSync(join(tmpdir(), 'opscope-write-'))
  const path = join(folder, 'out.csv')
  writeFileSync(path, 'old')
  const failing = function* () {
    yield 'half'
    throw new Error('source ended')
  }
  expect(() => writeAtomically(path, failing())).toThrow(`cannot write ${path}: source ended`)
  expect(readFileSync(path, 'utf8')).toBe('old')
  writeAtomically(path, ['a', 'ü\n'])
  expect(readFileSync(path, 'utf8')).toBe('aü\n')
  expect(readdirSync(folder)).toEqual(['out.csv'])
})
