import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Switches that let another program steer the window; fuses shut the ones of Node, these are Chromium's. */
const DEBUGGING = ['remote-debugging-port', 'remote-debugging-pipe', 'remote-debugging-address', 'remote-debugging-targets'] as const

/** The part of Electron's app used here. */
interface ReleasedApp {
  isPackaged: boolean
  commandLine: { hasSwitch(name: string): boolean }
  getAppPath(): string
  exit(code: number): void
}

/** Whether `npm run package -- --test` packed the app at this path. */
function isTestBuild(appPath: string): boolean {
  const about: unknown = JSON.parse(readFileSync(join(appPath, 'package.json'), 'utf8'))
  return typeof about === 'object' && about !== null && 'opscopeTestBuild' in about && about.opscopeTestBuild === true
}

/** Ends a packed app that was told to open itself to a debugger. Call before anything else: Chromium would listen soon. */
export function refuseDebugging(app: ReleasedApp): void {
  if (!app.isPackaged) return
  const asked = DEBUGGING.find((name) => app.commandLine.hasSwitch(name))
  if (asked === undefined || isTestBuild(app.getAppPath())) return
  process.stderr.write(`opscope: --${asked} is refused: a packed app opens no port and lets no other program steer it\n`)
  // `app.exit` lets this turn end first; nothing below the call may run.
  app.exit(2)
  process.exit(2)
}
