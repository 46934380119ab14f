import type { MenuItemConstructorOptions } from 'electron'
import { COMMANDS, type Command } from '@core/commands'

export interface MenuSurroundings {
  platform: NodeJS.Platform
  /** Offers the developer tools. */
  development: boolean
  /** Runs a command in the page. */
  send(command: string): void
  /** Titles of files imported last, and what choosing one does. */
  recent: readonly string[]
  openRecent(index: number): void
  clearRecent(): void
}

const SEPARATOR: MenuItemConstructorOptions = { type: 'separator' }

/** Keys that macOS gives to the Edit roles of text fields; the page handles them for tables. */
const TEXT_FIELD_KEYS: ReadonlySet<string> = new Set(['CmdOrCtrl+Z', 'CmdOrCtrl+C', 'CmdOrCtrl+A'])

/**
 * The menu bar from the list of commands. The page handles the keys itself, because only it knows whether Ctrl+C means
 * the marked text or the marked rows; menus show them and act on clicks.
 */
export function menuTemplate({ platform, development, send, recent, openRecent, clearRecent }: MenuSurroundings): MenuItemConstructorOptions[] {
  const mac = platform === 'darwin'
  const items = (menu: Command['menu']): MenuItemConstructorOptions[] =>
    (COMMANDS as readonly Command[])
      .filter((command) => command.menu === menu)
      .map(({ id, title, accelerator }) => ({
        id,
        label: title,
        ...(accelerator === undefined || (mac && TEXT_FIELD_KEYS.has(accelerator)) ? {} : { accelerator, registerAccelerator: false }),
        click: () => send(id),
      }))
  const recentFiles: MenuItemConstructorOptions = {
    id: 'recent-files',
    label: 'Open recent',
    enabled: recent.length > 0,
    // An ampersand would mark the letter behind it as a key.
    submenu: [...recent.map((title, i) => ({ label: title.replaceAll('&', '&&'), click: () => openRecent(i) })), SEPARATOR, { label: 'Clear the list', click: clearRecent }],
  }
  const developer: MenuItemConstructorOptions[] = development ? [SEPARATOR, { role: 'forceReload' }, { role: 'toggleDevTools' }] : []
  return [
    ...(mac ? [{ role: 'appMenu' as const }] : []),
    { label: 'File', submenu: [...items('File'), recentFiles, SEPARATOR, mac ? { role: 'close' } : { role: 'quit' }] },
    { label: 'Edit', submenu: [...items('Edit'), SEPARATOR, ...textRoles(mac)] },
    { label: 'Run', submenu: items('Run') },
    { label: 'View', submenu: [...items('View'), SEPARATOR, { role: 'zoomIn' }, { role: 'zoomOut' }, { role: 'resetZoom' }, { role: 'togglefullscreen' }, ...developer] },
    { label: 'Help', submenu: [...items('Help'), ...(mac ? [] : [SEPARATOR, { role: 'about' as const }])] },
  ]
}

/** Cut, copy and paste of text. Outside macOS Chromium has these keys already, so only clicks matter. */
function textRoles(mac: boolean): MenuItemConstructorOptions[] {
  const roles: MenuItemConstructorOptions[] = [{ role: 'cut' }, { role: 'copy', label: mac ? 'Copy' : 'Copy text' }, { role: 'paste' }]
  return mac ? [{ role: 'undo', label: 'Undo typing' }, { role: 'redo' }, ...roles, { role: 'selectAll' }] : roles.map((item) => ({ ...item, registerAccelerator: false }))
}
