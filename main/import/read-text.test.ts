import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { importSession, MAX_BYTES } from '@core/formats/registry'
import { readText } from './read-text'

const folder = mkdtempSync(join(tmpdir(), 'opscope-read-'))
afterAll(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)

it('reads a regular file, also one whose size is not known before', () => {
  writeFileSync(at('a.json'), 'ü'.repeat(1_000_000))
  expect(readText(at('a.json'))).toBe('ü'.repeat(1_000_000))
  expect(readText(new TextEncoder().encode('x'))).toBe('x')
  if (process.platform === 'linux') expect(readText('/proc/self/status')).toMatch(/^Name:/)
})

it.runIf(process.platform !== 'win32')('refuses what may have no end, and waits for nobody', () => {
  spawnSync('mkfifo', [at('pipe')])
  for (const path of ['/dev/zero', '/dev/tty', at('pipe'), folder]) expect(() => readText(path)).toThrow(/not a regular file|it is a folder|ENXIO/)
})

it('refuses a file that is too large before it is read', () => {
  writeFileSync(at('large.json'), '')
  truncateSync(at('large.json'), 2 ** 36)
  expect(() => readText(at('large.json'))).toThrow('larger than 64 MiB, the most that is read')
  expect(() => readText({ byteLength: MAX_BYTES + 1 } as Uint8Array)).toThrow('larger than 64 MiB')
})

it.each([
  ['objects', `[${'{},'.repeat(400_000)}{}]`, /more than 200,000 objects and lists/],
  ['results that are empty', `{"schemaVersion":1,"results":[${'{},'.repeat(2_100_000)}{}]}`, /more than 1,400,000 objects and lists/],
  ['numbers', `[${'1,'.repeat(7_000_000)}1]`, /more than 3,500,000 values/],
  ['members', `{${Array.from({ length: 30_000 }, (_, i) => `"k${i}":1`).join()}}`, /an object with more than 20,000 members/],
  ['cells', ','.repeat(7_000_000), /more than 3,500,000 values/],
  ['lines', 'a\n'.repeat(400_000), /more than 200,000 lines/],
])('a file of too many %s is refused before it is parsed', (_what, text, message) => {
  expect(importSession('many', text)).toEqual({ ok: false, message: expect.stringMatching(message) as string })
})
