import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Journal } from './bench/journal'

it('a bench goes on where its time ended, even in the middle of a line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'opscope-journal-'))
  const file = join(folder, 'parts', 'log')
  new Journal<{ ns: number }>(file).add('add f32', { ns: 1 })
  appendFileSync(file, '{"name":"mul f32","row":{"n')
  const next = new Journal<{ ns: number }>(file)
  expect([next.get('add f32'), next.get('mul f32')]).toEqual([{ ns: 1 }, undefined])
  next.add('mul f32', { ns: 2 })
  expect(next.begin('exp f32')).toBe(true)
  expect(new Journal(file).get('mul f32')).toEqual({ ns: 2 })
  // What the time of a call ended in would end the next one, too.
  expect(new Journal(file).begin('exp f32')).toBe(false)
  rmSync(folder, { recursive: true })
})
