import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isLibraryUrl, librariesFolder, serveLibraryFile } from './libraries'

let work: string
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'opscope-libraries-'))
  const put = (name: string, text: string) => {
    mkdirSync(join(work, name, '..'), { recursive: true })
    writeFileSync(join(work, name), text)
  }
  put('node_modules/onnxruntime-web/package.json', '{"version":"1.2.3"}')
  put('node_modules/onnxruntime-web/dist/ort.mjs', 'export {}')
  put('node_modules/onnxruntime-web/dist/ort.wasm', '')
  put('node_modules/@tensorflow/tfjs-core/package.json', 'not json')
  put('node_modules/other/index.js', '')
  put('secret.js', '')
  symlinkSync(join(work, 'secret.js'), join(work, 'node_modules/onnxruntime-web/dist/link.js'))
})
afterAll(() => rmSync(work, { recursive: true, force: true }))

const get = (path: string, method = 'GET') => serveLibraryFile(work, { url: `app://opscope/libraries/${path}`, method })

describe('serveLibraryFile', () => {
  it('lists the versions of what is installed, and no others', async () => {
    expect(await (await get('index.json')).json()).toEqual({ folder: work, versions: { 'onnxruntime-web': '1.2.3' } })
  })

  it('serves scripts and WebAssembly of the packages with the policy of the measuring page', async () => {
    const script = await get('onnxruntime-web/dist/ort.mjs')
    expect([script.status, script.headers.get('Content-Type')]).toEqual([200, 'text/javascript; charset=utf-8'])
    expect(script.headers.get('Content-Security-Policy')).toContain("script-src 'self' 'wasm-unsafe-eval'")
    expect((await get('onnxruntime-web/dist/ort.wasm')).headers.get('Content-Type')).toBe('application/wasm')
  })

  it.each(['other/index.js', 'onnxruntime-web/package.json', 'onnxruntime-web/dist', 'onnxruntime-web/dist/link.js', 'onnxruntime-web/..%2fother/index.js', 'onnxruntime-web/../other/index.js', 'onnxruntime-web/%2e%2e/other/index.js', '@tensorflow/tfjs-core/dist/tf-core.min.js', 'onnxruntime-web', ''])('answers 404 for %j', async (path) => {
    expect((await get(path)).status).toBe(404)
  })

  it('writes nothing and answers no other method', async () => {
    expect((await get('onnxruntime-web/dist/ort.mjs', 'POST')).status).toBe(404)
  })
})

it('looks into the folder of OPSCOPE_WEB_LIBRARIES, else beside the history', () => {
  expect(librariesFolder({ OPSCOPE_WEB_LIBRARIES: work })).toBe(work)
  expect(librariesFolder({})).toMatch(/web$/)
  expect([isLibraryUrl('app://opscope/libraries/index.json'), isLibraryUrl('app://opscope/index.html'), isLibraryUrl('no address')]).toEqual([true, false, false])
})
