import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeFileAtomic } from './write-file'

test('a file is replaced when complete, and stays as it was when the writing fails', () => {
  const folder = mkdtempSync(join(tmpdir(), 'opscope-write-'))
  const path = join(folder, 'out.csv')
  writeFileSync(path, 'old')
  const failing = function* () {
    yield 'half'
    throw new Error('source ended')
  }
  expect(() => writeFileAtomic(path, failing())).toThrow(`cannot write ${path}: source ended`)
  expect(readFileSync(path, 'utf8')).toBe('old')
  writeFileAtomic(path, ['a', 'ü\n'])
  expect(readFileSync(path, 'utf8')).toBe('aü\n')
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['out.csv'])
})

test('a refusal names the file asked for and the reason', () => {
  const folder = mkdtempSync(join(tmpdir(), 'opscope-write-'))
  const missing = join(folder, 'none', 'out.csv')
  expect(() => writeFileAtomic(missing, ['x'])).toThrow(`cannot write ${missing}: there is no such folder`)
  expect(() => writeFileAtomic(folder, ['x'])).toThrow(/^cannot write .*: (that is a folder|you may not write there)$/)
})
