import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join, resolve, sep } from 'node:path'
import { build } from 'vite'
import { PAGE_HEADERS } from '../../../main/app/csp'

const root = resolve(import.meta.dirname, '../../..')
const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

/** The measurement page, built from the sources as they are and served with the app's headers. */
export async function servePage(): Promise<{ url: string; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'opscope-webgpu-'))
  await build({
    configFile: false,
    logLevel: 'warn',
    root: join(root, 'renderer'),
    resolve: { alias: { '@core': join(root, 'core') } },
    build: { outDir: folder, emptyOutDir: true, target: 'chrome130', minify: false, rolldownOptions: { input: { webgpu: join(root, 'renderer/webgpu/index.html') } } },
  })
  const server = createServer((request, response) => {
    const path = resolve(folder, `.${new URL(request.url ?? '/', 'http://page').pathname}`)
    const send = async () => {
      if (!path.startsWith(folder + sep) || !(await stat(path)).isFile()) throw new Error('not a file of the page')
      response.writeHead(200, { ...PAGE_HEADERS, 'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream' })
      createReadStream(path).pipe(response)
    }
    send().catch(() => response.writeHead(404).end())
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webgpu/index.html`,
    async close() {
      await new Promise((done) => server.close(done))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
