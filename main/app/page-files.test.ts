import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { servePageFile } from './page-files'

let work: string
let pages: string

beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'opscope-pages-'))
  pages = join(work, 'renderer')
  mkdirSync(join(pages, 'assets'), { recursive: true })
  mkdirSync(join(work, 'renderer-other'))
  writeFileSync(join(work, 'secret.json'), '{}')
  writeFileSync(join(work, 'renderer-other', 'a.js'), '1')
  writeFileSync(join(pages, 'index.html'), '<!doctype html>')
  writeFileSync(join(pages, 'assets', 'a b.js'), 'export {}')
  writeFileSync(join(pages, 'notes.txt'), 'x')
  symlinkSync(join(work, 'secret.json'), join(pages, 'link.json'))
  symlinkSync(work, join(pages, 'up'))
})
afterAll(() => rmSync(work, { recursive: true, force: true }))

const status = async (path: string, method = 'GET') => (await servePageFile(pages, { url: `app://opscope${path}`, method })).status

describe('servePageFile', () => {
  it('serves files of the folder with their type and the policy', async () => {
    const answer = await servePageFile(pages, { url: 'app://opscope/index.html?x#/run', method: 'GET' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('Content-Security-Policy')).toContain("default-src 'none'")
    expect(await answer.text()).toBe('<!doctype html>')
    expect(await status('/assets/a%20b.js')).toBe(200)
  })

  it.each(['/../secret.json', '/%2e%2e/secret.json', '/..%2fsecret.json', '/%2e%2e%2fsecret.json', '/..\\secret.json', '/..%5csecret.json', '/assets/../../secret.json', '/assets/..%2f..%2fsecret.json', '//secret.json', '/../renderer-other/a.js', '/index.html%00.js', '/%', '/', '/assets', '/missing.js', '/notes.txt'])('answers 404 for %s', async (path) => {
    expect(await status(path)).toBe(404)
  })

  it('does not follow links out of the folder', async () => {
    expect(await status('/link.json')).toBe(404)
    expect(await status('/up/secret.json')).toBe(404)
  })

  it('knows one host and only reads', async () => {
    expect((await servePageFile(pages, { url: 'app://elsewhere/index.html', method: 'GET' })).status).toBe(404)
    expect((await servePageFile(pages, { url: 'file:///etc/passwd', method: 'GET' })).status).toBe(404)
    expect(await status('/index.html', 'POST')).toBe(404)
  })
})
