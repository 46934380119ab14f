import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { AssociationPlace } from './index'

/** The folder that holds package.json: of a checkout, or the archive of a packed app. */
function rootFolder(from = import.meta.dirname): string {
  for (let folder = resolve(from); ; folder = resolve(folder, '..')) {
    if (existsSync(join(folder, 'package.json'))) return folder
    if (folder === resolve(folder, '..')) throw new Error(`no package.json above ${from}`)
  }
}

/**
 * How the desktop starts the app that runs now: a packed app by its own program (of an AppImage, the file the user has),
 * a checkout by its start script, which sets up what has changed.
 */
export function associationCommand(packaged: boolean, env: NodeJS.ProcessEnv = process.env, root = rootFolder()): AssociationPlace {
  const node = join(root, 'node_modules', '.bin', 'node')
  const command = packaged ? [env['APPIMAGE'] ?? process.execPath] : [existsSync(node) ? node : 'node', join(root, 'scripts', 'start.mjs')]
  return { platform: process.platform, env, command, icon: join(root, 'packaging', 'icon.svg') }
}
