import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { RecentFiles, recentTitles } from './recent-files'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-recent-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))
const file = () => join(folder, 'recent.json')

it('keeps the files imported last, each once and newest first, and tells of changes', () => {
  const changed = vi.fn()
  const recent = new RecentFiles(file(), changed)
  for (let i = 0; i < 12; i++) recent.add(`/data/${i}.json`, `session-${i}`)
  recent.add('/data/5.json', 'session-again')
  expect(recent.list().map(({ path }) => path)).toEqual([5, 11, 10, 9, 8, 7, 6, 4, 3, 2].map((i) => `/data/${i}.json`))
  expect(recent.list()[0]!.sessionId).toBe('session-again')
  expect(changed).toHaveBeenCalledTimes(13)
  recent.remove('/data/5.json')
  expect(new RecentFiles(file()).list()).toEqual(recent.list())
  recent.clear()
  expect(new RecentFiles(file()).list()).toEqual([])
})

it('begins anew where the list is damaged', () => {
  for (const text of ['{', '[{"path":5}]', 'null']) {
    writeFileSync(file(), text)
    expect(new RecentFiles(file()).list()).toEqual([])
  }
})

it('names files, and their folders where names are alike', () => {
  const of = (path: string) => ({ path, sessionId: 'a' })
  expect(recentTitles([of('/a/x.json'), of('/b/x.json'), of('/b/y.json')])).toEqual(['x.json (/a)', 'x.json (/b)', 'y.json'])
})
