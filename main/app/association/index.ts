import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import type { Association } from '@core/ipc'
import { homeFolder, makeFolder } from '../../paths'
import { writeFileAtomic } from '../../write-file'
import { DESKTOP_ID, LINK_TYPE, MIME_PACKAGE, SESSION_TYPE, desktopEntry, mimePackage, withoutOpscope } from './texts'

/** What an association is made from and where. */
export interface AssociationPlace {
  platform: NodeJS.Platform
  env: Readonly<Record<string, string | undefined>>
  /** Starts this app; files are added. */
  command: readonly string[]
  /** An SVG to show for the app and its files. */
  icon: string
}

/** A program of the desktop did not do its part. */
export class AssociationError extends Error {}

const TOOL_MS = 20_000

function folder(env: AssociationPlace['env'], name: 'XDG_DATA_HOME' | 'XDG_CONFIG_HOME', fallback: string): string {
  const own = env[name]
  return own && isAbsolute(own) ? own : join(homeFolder(env['HOME']), fallback)
}

function filesOf({ env }: AssociationPlace) {
  const data = folder(env, 'XDG_DATA_HOME', '.local/share')
  const applications = join(data, 'applications')
  return {
    desktop: join(applications, DESKTOP_ID),
    mime: join(data, 'mime', 'packages', MIME_PACKAGE),
    icon: join(data, 'icons', 'hicolor', 'scalable', 'apps', 'opscope.svg'),
    choices: [join(folder(env, 'XDG_CONFIG_HOME', '.config'), 'mimeapps.list'), join(applications, 'mimeapps.list')],
    applications,
    mimeFolder: join(data, 'mime'),
  }
}

const hasTool = (env: AssociationPlace['env'], tool: string) => (env['PATH'] ?? '').split(delimiter).some((path) => existsSync(join(path, tool)))

/** Runs a tool of the desktop; a sentence about what is not done where it is missing or fails. */
function runTool(env: AssociationPlace['env'], tool: string, args: readonly string[], debian: string, without: string): string[] {
  if (!hasTool(env, tool)) return [`${tool} is not installed (Debian: ${debian}), so ${without}.`]
  const { status, stderr, error } = spawnSync(tool, args, { env: { ...env }, encoding: 'utf8', timeout: TOOL_MS })
  if (status === 0) return []
  return [`${tool} failed (${error?.message ?? (stderr.trim().split('\n').at(-1) || `status ${status}`)}), so ${without}.`]
}

function refresh(place: AssociationPlace): string[] {
  const { mimeFolder, applications } = filesOf(place)
  return [
    ...runTool(place.env, 'update-mime-database', [mimeFolder], 'shared-mime-info', 'the desktop may not recognise session files until later, or at all'),
    ...(existsSync(applications) ? runTool(place.env, 'update-desktop-database', [applications], 'desktop-file-utils', 'file managers may list Opscope for them only after the next log-in') : []),
  ]
}

const textOf = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined)

/** Whether session files and links open with this app. Only Linux registers by itself; elsewhere the installer does. */
export function readAssociation(place: AssociationPlace): Association {
  if (place.platform !== 'linux') return { how: 'installer', on: false, notes: [] }
  const { desktop, mime } = filesOf(place)
  const entry = textOf(desktop)
  const on = entry !== undefined && existsSync(mime)
  const current = on && entry === desktopEntry(place.command)
  const exec = (text: string) => /^Exec=(.*) %[FU]$/m.exec(text)?.[1]
  // An entry that an earlier version of this copy wrote has the same command.
  const other = on && !current && exec(entry) !== exec(desktopEntry(place.command)) ? exec(entry) : undefined
  return { how: 'here', on: current, ...(other === undefined ? {} : { other }), notes: [] }
}

/** Registers the file type and this app for it, for this user. Throws AssociationError when nothing could be written. */
export function associate(place: AssociationPlace): Association {
  mustBeLinux(place)
  const files = filesOf(place)
  try {
    for (const [file, content] of [[files.desktop, desktopEntry(place.command)], [files.mime, mimePackage()], [files.icon, readFileSync(place.icon)]] as const) {
      makeFolder(dirname(file))
      writeFileAtomic(file, [content])
    }
  } catch (error) {
    throw new AssociationError(`The file type could not be registered: ${error instanceof Error ? error.message : String(error)}.`, { cause: error })
  }
  const notes = [
    ...refresh(place),
    ...runTool(place.env, 'xdg-mime', ['default', DESKTOP_ID, SESSION_TYPE, LINK_TYPE], 'xdg-utils', 'another app that opens such files keeps precedence'),
  ]
  return { ...readAssociation(place), notes }
}

/** Takes back what `associate` did, also that of another copy of the app. */
export function dissociate(place: AssociationPlace): Association {
  mustBeLinux(place)
  const files = filesOf(place)
  const hadType = existsSync(files.mime)
  try {
    for (const file of [files.desktop, files.mime, files.icon]) rmSync(file, { force: true })
    for (const file of files.choices) {
      const before = textOf(file)
      const after = before === undefined ? undefined : withoutOpscope(before)
      // Through a link: many keep this file elsewhere.
      if (after !== undefined && after !== before) writeFileAtomic(realpathSync(file), [after])
    }
  } catch (error) {
    throw new AssociationError(`The file type could not be unregistered: ${error instanceof Error ? error.message : String(error)}.`, { cause: error })
  }
  return { ...readAssociation(place), notes: hadType ? refresh(place) : [] }
}

function mustBeLinux({ platform }: AssociationPlace): void {
  if (platform !== 'linux') throw new AssociationError('Only on Linux does Opscope register its file type by itself; here its installer does.')
}

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
