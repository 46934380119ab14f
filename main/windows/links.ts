import { linkPath, LINK_SCHEME, readLink, type Link } from '@core/session/links'
import { NotFoundError, type History } from '../history/types'
import type { Emit } from '../ipc/register'

export interface LinksDeps {
  history: Pick<History, 'summary'>
  emit: Emit
  /** Brings the window to the front, or opens the first at this address of the page. */
  show(path?: string): void
  hasWindow(): boolean
}

/** What a link from outside may do: show a view of sessions that are in the history. */
export interface Links {
  open(link: Link): void
}

export const createLinks = ({ history, emit, show, hasWindow }: LinksDeps): Links => ({
  open(link) {
    const begun = hasWindow()
    try {
      for (const id of link.view === 'session' ? [link.id] : link.ids) history.summary(id)
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error
      show()
      // A page that has only begun to load asks for nothing of this; the view of History stands for itself.
      emit('notice', { level: 'warning', message: 'The link names a session that is not in this history. Import its file first.' })
      return
    }
    show(begun ? undefined : linkPath(link))
    if (begun) emit('link:opened', link)
  },
})

/** The link among a command line's arguments; programs are started with one by the system. */
export const linkIn = (argv: readonly string[]): Link | undefined => argv.slice(1).map(readLink).find((link) => link !== undefined)

/** Registers the scheme of links where the app does so by itself; on Linux that goes with the file type (main/app/association), and a checkout leaves the system as it is. */
export function registerLinks(app: { isPackaged: boolean; setAsDefaultProtocolClient(scheme: string): boolean }, platform: NodeJS.Platform = process.platform): void {
  if (app.isPackaged && platform !== 'linux') app.setAsDefaultProtocolClient(LINK_SCHEME)
}
