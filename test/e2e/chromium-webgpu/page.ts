import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join, resolve, sep } from 'node:path'
import { build } from 'vite'
import { MEASURING_HEADERS } from '../../../main/app/page-files'
import { isLibraryUrl, serveLibraryFile } from '../../../main/backends/webgpu/libraries'

const root = resolve(import.meta.dirname, '../../..')
const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

/** A page of the repository, built from the sources as they are and served with the app's headers, beside it what npm installed into `libraries`. */
export async function servePage(path = 'renderer/webgpu/index.html', libraries?: string): Promise<{ url: string; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'opscope-page-'))
  await build({
    configFile: false,
    logLevel: 'warn',
    root,
    resolve: { alias: { '@core': join(root, 'core') } },
    build: { outDir: folder, emptyOutDir: true, target: 'chrome130', minify: false, rolldownOptions: { input: { page: join(root, path) } } },
  })
  const server = createServer((request, response) => {
    const file = resolve(folder, `.${new URL(request.url ?? '/', 'http://page').pathname}`)
    const send = async () => {
      const url = `app://opscope${request.url ?? '/'}`
      if (libraries !== undefined && isLibraryUrl(url)) {
        const answer = await serveLibraryFile(libraries, { url, method: request.method ?? 'GET' })
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
        return
      }
      if (!file.startsWith(folder + sep) || !(await stat(file)).isFile()) throw new Error('not a file of the page')
      response.writeHead(200, { ...MEASURING_HEADERS, 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream' })
      createReadStream(file).pipe(response)
    }
    send().catch(() => response.writeHead(404).end())
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`,
    async close() {
      await new Promise((done) => server.close(done))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
