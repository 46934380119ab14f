import { existsSync } from 'node:fs'
import { readFile, realpath, stat } from 'node:fs/promises'
import { extname, join, sep, resolve } from 'node:path'

/** Scheme and host of the app's pages. */
export const APP_SCHEME = 'app'
const APP_HOST = 'opscope'
export const APP_ORIGIN = `${APP_SCHEME}://${APP_HOST}`

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.woff': 'font/woff',
}

/**
 * The file a URL names inside `folder`, or undefined when it names none: other hosts, encoded separators, dots that
 * lead out, links that lead out, folders, and kinds of file that no page of ours has.
 */
async function findPageFile(folder: string, url: string, types: Readonly<Record<string, string>> = CONTENT_TYPES, prefix = ''): Promise<string | undefined> {
  if (!URL.canParse(url)) return undefined
  const { protocol, host, pathname } = new URL(url)
  if (protocol !== `${APP_SCHEME}:` || host !== APP_HOST) return undefined
  // An encoded separator, dot or NUL is never ours; decoding it after the URL was normalised would undo the check.
  if (/%(2f|5c|2e|00)/i.test(url) || url.includes('\\')) return undefined
  let name: string
  try {
    if (!pathname.startsWith(`${prefix}/`)) return undefined
    name = decodeURIComponent(pathname.slice(prefix.length))
  } catch {
    return undefined
  }
  if (name.split('/').includes('..') || !(extname(name) in types)) return undefined
  try {
    const root = await realpath(folder)
    const file = await realpath(join(root, name))
    return file.startsWith(root + sep) && (await stat(file)).isFile() ? file : undefined
  } catch {
    return undefined
  }
}

interface PageRequest {
  url: string
  method: string
}

const isRead = ({ method }: PageRequest) => method === 'GET' || method === 'HEAD'

async function answerWith(file: string | undefined, types: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>>): Promise<Response> {
  if (file === undefined) return new Response('Not found', { status: 404, headers: { ...headers, 'Content-Type': 'text/plain; charset=utf-8' } })
  return new Response(await readFile(file), { headers: { ...headers, 'Content-Type': types[extname(file)]! } })
}

/** Answers a request of a page: the file with the security headers, or 404. */
export const servePageFile = async (folder: string, request: PageRequest, headers = PAGE_HEADERS): Promise<Response> =>
  answerWith(isRead(request) ? await findPageFile(folder, request.url) : undefined, CONTENT_TYPES, headers)

/** What a page may load of an npm package that the user installed. */
const PACKAGE_TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript; charset=utf-8', '.mjs': 'text/javascript; charset=utf-8', '.wasm': 'application/wasm' }

/** Answers a request for a file of a package: `prefix` of the path stands for its folder; 404 where that is undefined. */
export const servePackageFile = async (folder: string | undefined, prefix: string, request: PageRequest): Promise<Response> =>
  answerWith(folder !== undefined && isRead(request) ? await findPageFile(folder, request.url, PACKAGE_TYPES, prefix) : undefined, PACKAGE_TYPES, MEASURING_HEADERS)

/**
 * What a page of the app may load: its own files and pictures it drew itself. Inline style attributes are needed by
 * chart tooltips and virtual tables; inline style elements, scripts and eval are not.
 */
const DIRECTIVES = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'style-src-attr': "'unsafe-inline'",
  'img-src': "'self' data: blob:",
  'font-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
}

const policy = (directives: Readonly<Record<string, string>>) => Object.entries(directives).map(([name, value]) => `${name} ${value}`).join('; ')

/** Headers of every page and file. The isolation headers give timers their full resolution. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policy(DIRECTIVES),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-cache',
}

/** Headers of the hidden page that measures WebGPU, which may also compile the WebAssembly of libraries (main/backends/webgpu/libraries.ts). */
export const MEASURING_HEADERS: Readonly<Record<string, string>> = { ...PAGE_HEADERS, 'Content-Security-Policy': policy({ ...DIRECTIVES, 'script-src': "'self' 'wasm-unsafe-eval'" }) }

/** The folder of the built app, which holds main/, preload/ and renderer/; shared chunks of main lie one level deeper. */
export function outFolder(from = import.meta.dirname): string {
  const places = ['..', '../..'].map((up) => resolve(from, up))
  const found = places.find((folder) => existsSync(join(folder, 'preload', 'index.cjs')))
  if (!found) throw new Error(`the app is not built: expected preload/index.cjs in ${places[0]}; npm run build makes it`)
  return found
}

/** A preload bundle, e.g. `index.cjs`. */
export const preloadFile = (name: string): string => join(outFolder(), 'preload', name)
