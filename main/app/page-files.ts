import { readFile, realpath, stat } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { PAGE_HEADERS } from './csp'

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
async function findPageFile(folder: string, url: string): Promise<string | undefined> {
  if (!URL.canParse(url)) return undefined
  const { protocol, host, pathname } = new URL(url)
  if (protocol !== `${APP_SCHEME}:` || host !== APP_HOST) return undefined
  // An encoded separator, dot or NUL is never ours; decoding it after the URL was normalised would undo the check.
  if (/%(2f|5c|2e|00)/i.test(url) || url.includes('\\')) return undefined
  let name: string
  try {
    name = decodeURIComponent(pathname)
  } catch {
    return undefined
  }
  if (name.split('/').includes('..') || !(extname(name) in CONTENT_TYPES)) return undefined
  try {
    const root = await realpath(folder)
    const file = await realpath(join(root, name))
    return file.startsWith(root + sep) && (await stat(file)).isFile() ? file : undefined
  } catch {
    return undefined
  }
}

/** Answers a request of a page: the file with the security headers, or 404. */
export async function servePageFile(folder: string, request: { url: string; method: string }): Promise<Response> {
  const file = request.method === 'GET' || request.method === 'HEAD' ? await findPageFile(folder, request.url) : undefined
  if (file === undefined) return new Response('Not found', { status: 404, headers: { ...PAGE_HEADERS, 'Content-Type': 'text/plain; charset=utf-8' } })
  return new Response(await readFile(file), { headers: { ...PAGE_HEADERS, 'Content-Type': CONTENT_TYPES[extname(file)]! } })
}
