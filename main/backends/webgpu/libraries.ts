import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { dataFolder } from '../../paths'
import { MEASURING_HEADERS, servePackageFile } from '../../app/page-files'

/** The npm packages that the page which measures WebGPU may load, where the user installed them; renderer/webgpu/libraries calls them. */
const PACKAGES = ['onnxruntime-web', '@tensorflow/tfjs-core', '@tensorflow/tfjs-backend-webgpu'] as const

/** The folder that `npm install --prefix` was given: OPSCOPE_WEB_LIBRARIES where set, else `web` in the data folder. */
export function librariesFolder(env: NodeJS.ProcessEnv = process.env): string {
  const named = env['OPSCOPE_WEB_LIBRARIES']
  return named ? resolve(named) : join(dataFolder(), 'web')
}

function versionOf(folder: string): string | undefined {
  try {
    const about: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const { version } = Object(about) as { version?: unknown }
    return typeof version === 'string' ? version : undefined
  } catch {
    return undefined
  }
}

/** Whether a URL names something of the libraries. */
export const isLibraryUrl = (url: string): boolean => URL.canParse(url) && new URL(url).pathname.startsWith('/libraries/')

/** Answers a request below /libraries/: the list of what is installed in the folder, or a script or module of WebAssembly of one of the packages. */
export async function serveLibraryFile(folder: string, request: { url: string; method: string }): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/libraries/index.json') {
    const versions = Object.fromEntries(PACKAGES.flatMap((name) => {
      const version = versionOf(join(folder, 'node_modules', name))
      return version === undefined ? [] : [[name, version]]
    }))
    return new Response(JSON.stringify({ folder, versions }), { headers: { ...MEASURING_HEADERS, 'Content-Type': 'application/json; charset=utf-8' } })
  }
  const name = PACKAGES.find((known) => pathname.startsWith(`/libraries/${known}/`))
  const place = name === undefined ? undefined : join(folder, 'node_modules', name)
  return servePackageFile(place !== undefined && existsSync(place) ? place : undefined, `/libraries/${name}`, request)
}
