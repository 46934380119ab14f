import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { cacheSweeps } from './cache-sweeps'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-sweeps-'))
  file = join(folder, 'data', 'sweeps.json')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const rates = [{ bytes: 1 << 20, rate: 5000.5 }, { bytes: 1 << 21, rate: 4000 }]
const now = new Date('2026-01-02T03:04:05.000Z')

it('keeps the last sweep of each adapter for the next start', () => {
  expect(cacheSweeps(file).get('a')).toBeUndefined()
  cacheSweeps(file).put('a', [{ bytes: 16, rate: 1 }], now)
  cacheSweeps(file).put('b', rates, now)
  cacheSweeps(file).put('a', rates, now)
  expect(cacheSweeps(file).get('a')).toEqual({ key: 'a', measuredAt: '2026-01-02T03:04:05.000Z', rates })
  expect(cacheSweeps(file).get('b')?.rates).toEqual(rates)
  for (let i = 0; i < 15; i++) cacheSweeps(file).put(`other ${i}`, rates, now)
  expect([cacheSweeps(file).get('b'), cacheSweeps(file).get('a')?.key]).toEqual([undefined, 'a'])
})

it('keeps nothing that is no sweep, and reads a damaged file as empty', () => {
  const sweeps = cacheSweeps(file)
  for (const [key, value] of [['a', []], ['a', [{ bytes: -1, rate: 1 }]], ['a', 'text'], [7, rates], ['', rates], ['a', new Array(65).fill(rates[0])]]) sweeps.put(key, value, now)
  expect(sweeps.get('a')).toBeUndefined()
  sweeps.put('a', rates, now)
  writeFileSync(file, '[{"key":"a"')
  expect(sweeps.get('a')).toBeUndefined()
  sweeps.put('b', rates, now)
  expect(sweeps.get('b')?.rates).toEqual(rates)
})
