/**
 * Every command of the app, once: the menu bar, the palette and the keyboard are made from this list.
 * `accelerator` uses Electron's notation (CmdOrCtrl becomes Ctrl or ⌘). The page runs a command by its id.
 */
export interface Command {
  id: string
  title: string
  menu: 'File' | 'Edit' | 'Run' | 'View' | 'Help'
  accelerator?: string
}

export const COMMANDS = [
  { id: 'window.new', title: 'New window', menu: 'File', accelerator: 'CmdOrCtrl+Shift+N' },
  { id: 'session.import', title: 'Import session…', menu: 'File', accelerator: 'CmdOrCtrl+O' },
  { id: 'capture.open', title: 'Capture shapes from a script…', menu: 'File' },
  { id: 'session.export', title: 'Export session…', menu: 'File', accelerator: 'CmdOrCtrl+S' },
  { id: 'session.pin', title: 'Pin session as baseline, or unpin', menu: 'Edit', accelerator: 'CmdOrCtrl+Shift+B' },
  { id: 'view.copy-link', title: 'Copy link', menu: 'Edit', accelerator: 'CmdOrCtrl+Shift+L' },
  { id: 'edit.undo', title: 'Undo', menu: 'Edit', accelerator: 'CmdOrCtrl+Z' },
  { id: 'table.copy', title: 'Copy rows', menu: 'Edit', accelerator: 'CmdOrCtrl+C' },
  { id: 'table.copy-command', title: 'Copy rows as command line', menu: 'Edit', accelerator: 'CmdOrCtrl+Shift+C' },
  { id: 'table.copy-json', title: 'Copy rows as JSON', menu: 'Edit', accelerator: 'CmdOrCtrl+Shift+J' },
  { id: 'table.select-all', title: 'Select all rows', menu: 'Edit', accelerator: 'CmdOrCtrl+A' },
  { id: 'edit.find', title: 'Find', menu: 'Edit', accelerator: 'CmdOrCtrl+F' },
  { id: 'run.start', title: 'Run', menu: 'Run', accelerator: 'CmdOrCtrl+Enter' },
  { id: 'run.pause', title: 'Pause or resume', menu: 'Run', accelerator: 'CmdOrCtrl+.' },
  { id: 'run.stop', title: 'Stop', menu: 'Run', accelerator: 'CmdOrCtrl+Shift+.' },
  { id: 'run.suites', title: 'Suites', menu: 'Run' },
  { id: 'run.ceilings', title: 'Measure this machine', menu: 'Run' },
  { id: 'run.self-check', title: 'Measure noise floor', menu: 'Run' },
  { id: 'table.case-history', title: 'Show this case in all sessions', menu: 'View', accelerator: 'CmdOrCtrl+Shift+H' },
  { id: 'view.run', title: 'Run view', menu: 'View', accelerator: 'CmdOrCtrl+1' },
  { id: 'view.session', title: 'Session view', menu: 'View', accelerator: 'CmdOrCtrl+2' },
  { id: 'view.compare', title: 'Compare view', menu: 'View', accelerator: 'CmdOrCtrl+3' },
  { id: 'view.history', title: 'History view', menu: 'View', accelerator: 'CmdOrCtrl+4' },
  { id: 'view.devices', title: 'Devices view', menu: 'View', accelerator: 'CmdOrCtrl+5' },
  { id: 'view.fleet', title: 'Fleet', menu: 'View' },
  { id: 'view.settings', title: 'Settings', menu: 'View', accelerator: 'CmdOrCtrl+,' },
  { id: 'view.saved', title: 'Save or show a view…', menu: 'View', accelerator: 'CmdOrCtrl+Shift+S' },
  { id: 'view.findings', title: 'Findings', menu: 'View', accelerator: 'CmdOrCtrl+Shift+F' },
  { id: 'view.palette', title: 'Command palette', menu: 'View', accelerator: 'CmdOrCtrl+K' },
  { id: 'view.theme', title: 'Switch theme', menu: 'View' },
  { id: 'help.guide', title: 'Guide', menu: 'Help', accelerator: 'F1' },
  { id: 'help.licences', title: 'Licences', menu: 'Help' },
  { id: 'help.shortcuts', title: 'Keyboard shortcuts', menu: 'Help', accelerator: 'CmdOrCtrl+/' },
] as const satisfies readonly Command[]
export type CommandId = (typeof COMMANDS)[number]['id']
