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

/** A page that is served until it is closed. */
export interface ServedPage {
  url: string
  /** The bytes that the page posted to this path of its server, once. Throws where there are none. */
  taken(path: string): Buffer<ArrayBuffer>
  close(): Promise<void>
}

/** A page of the repository, built from the sources as they are and served with the app's headers, beside it what npm installed into `libraries`. */
export async function servePage(path = 'renderer/webgpu/index.html', libraries?: string): Promise<ServedPage> {
  const folder = await mkdtemp(join(tmpdir(), 'opscope-page-'))
  await build({
    configFile: false,
    logLevel: 'warn',
    root,
    resolve: { alias: { '@core': join(root, 'core') } },
    build: { outDir: folder, emptyOutDir: true, target: 'chrome130', minify: false, rolldownOptions: { input: { page: join(root, path) } } },
  })
  const posted = new Map<string, Buffer<ArrayBuffer>>()
  const server = createServer((request, response) => {
    const file = resolve(folder, `.${new URL(request.url ?? '/', 'http://page').pathname}`)
    const send = async () => {
      if (request.method === 'POST') {
        const parts: Buffer[] = []
        for await (const part of request) parts.push(part as Buffer)
        posted.set(request.url!, Buffer.concat(parts))
        response.writeHead(204).end()
        return
      }
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
    taken(at) {
      const bytes = posted.get(at)
      if (!bytes) throw new Error(`the page posted nothing to ${at}`)
      posted.delete(at)
      return bytes
    },
    async close() {
      await new Promise((done) => server.close(done))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
