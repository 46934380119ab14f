import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const RELATIVE = join('native', 'build', 'opscope.node')

/**
 * Where the addon lies: OPSCOPE_ADDON when set, else native/build/opscope.node in the nearest folder above `from` (a
 * checkout, or a packaged app, where files that must be real stand in app.asar.unpacked). Undefined when there is none.
 */
export function locateAddon(from: string, env: NodeJS.ProcessEnv = process.env, exists: (path: string) => boolean = existsSync): string | undefined {
  if (env.OPSCOPE_ADDON) return resolve(env.OPSCOPE_ADDON)
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const candidate = join(folder.replace(/\.asar(?=$|[\\/])/, '.asar.unpacked'), RELATIVE)
    if (exists(candidate)) return candidate
    if (dirname(folder) === folder) return undefined
  }
}
