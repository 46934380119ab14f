import { app, nativeTheme, shell } from 'electron'
import { associate, associationCommand, dissociate, readAssociation } from '../../app/association'
import type { Services } from '../../app/services'
import { readEnvironment } from '../../environment'
import { RequestError, type Handlers } from '../answer'
import { checkNewPrograms } from './python'

export const appHandlers = ({ history, settings, startNotices, foundPrograms, emit, openWindow, faults }: Services) =>
  ({
    'app:info': () => {
      const { devices: _devices, ...environment } = readEnvironment([])
      const firstStart = history.ceilings().length === 0 && history.listSessions({ search: '', deleted: false }).length === 0
      const fault = faults.untold()
      return { ...(fault ? { fault: { what: fault.what, at: fault.at } } : {}), environment, firstStart, platform: process.platform, locale: app.getSystemLocale(), interrupted: history.interrupted(), ...(startNotices.length === 0 ? {} : { notice: startNotices.join(' ') }) }
    },
    'settings:get': () => settings.get(),
    'settings:set': (change, asker) => {
      checkNewPrograms(change.python, settings.get().python, foundPrograms)
      const saved = settings.set(change)
      nativeTheme.themeSource = saved.theme
      emit('settings:changed', saved, { except: asker })
      return saved
    },
    'association:get': () => readAssociation(associationCommand(app.isPackaged)),
    'association:set': ({ on }) => (on ? associate : dissociate)(associationCommand(app.isPackaged)),
    'window:open': ({ link }) => {
      for (const id of link === undefined ? [] : link.view === 'session' ? [link.id] : link.ids) history.summary(id)
      try {
        openWindow(link)
      } catch (error) {
        throw error instanceof RangeError ? new RequestError('refused', error.message) : error
      }
      return undefined
    },
    'fault:page': ({ message, stack }) => {
      faults.report({ what: `The window reported an error: ${message.split('\n', 1)[0]!}`, error: stack ?? message })
      return undefined
    },
    'fault:show': () => {
      faults.show()
      return undefined
    },
    'shell:open-link': ({ link }) => openLink(link).then(() => undefined),
  }) satisfies Partial<Handlers>

/** Everything the app ever opens in the user's browser. */
const LINKS = {
  webgpu: 'https://www.w3.org/TR/webgpu/',
  licence: 'https://opensource.org/license/mit',
} as const satisfies Record<string, `https://${string}`>

/** Opens a known page in the user's browser. The only caller of shell.openExternal. */
async function openLink(link: keyof typeof LINKS): Promise<void> {
  const url = new URL(LINKS[link])
  if (url.protocol !== 'https:') throw new Error(`${url.href} is not an https address`)
  await shell.openExternal(url.href)
}
