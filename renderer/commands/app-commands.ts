import type { Router } from 'vue-router'
import { openWindow } from '../lib/links'
import { useApp } from '../stores/app'
import { useExporting } from '../stores/exporting'
import { useNotices } from '../stores/notices'
import { useRun } from '../stores/run'
import { useSessions } from '../stores/sessions'
import { useSettings } from '../stores/settings'
import { useTour } from '../stores/picks'
import { provideCommand } from './registry'

/** The commands that work in every view. Returns the functions that take them back. */
export function provideAppCommands(router: Router): (() => void)[] {
  const app = useApp()
  const run = useRun()
  const sessions = useSessions()
  const exporting = useExporting()
  const notices = useNotices()
  const settings = useSettings()
  const tour = useTour()

  const views = (['run', 'session', 'compare', 'history', 'devices', 'fleet', 'settings'] as const).map((name) => provideCommand(`view.${name}`, () => router.push({ name })))
  return [
    ...views,
    provideCommand('window.new', () => openWindow()),
    provideCommand('help.guide', () => router.push({ name: 'guide' })),
    provideCommand('help.licences', () => router.push({ name: 'licences' })),
    provideCommand('help.shortcuts', () => (app.shortcutsOpen = true)),
    provideCommand('view.palette', () => (app.paletteOpen = !app.paletteOpen)),
    provideCommand('view.theme', () => {
      settings.nextTheme()
      notices.show({ level: 'info', message: settings.values.theme === 'system' ? 'Theme: system.' : `Theme: ${settings.values.theme}.` })
    }),
    provideCommand('edit.undo', () => notices.undo()),
    provideCommand('run.pause', () => run.pauseOrResume(), () => run.busy && run.state.phase !== 'stopping'),
    provideCommand('run.stop', () => run.stop(), () => run.busy),
    provideCommand('capture.open', () => router.push({ name: 'capture' })),
    provideCommand('run.suites', () => router.push({ name: 'suites' })),
    provideCommand(
      'run.ceilings',
      async () => {
        await router.push({ name: 'run' })
        await tour.start()
      },
      () => !run.busy,
    ),
    provideCommand(
      'run.self-check',
      async () => {
        await router.push({ name: 'devices' })
        await run.selfCheck()
      },
      () => !run.busy,
    ),
    provideCommand('session.import', async () => {
      const [first] = await sessions.importSessions()
      if (first) await router.push({ name: 'session', params: { id: first.id } })
    }),
    // Outside the session and history views the session of the last run is meant.
    provideCommand('session.export', () => run.sessionId && exporting.ask(run.sessionId, run.state.sessionName ?? 'the last run'), () => run.sessionId !== undefined),
  ]
}
