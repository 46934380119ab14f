import { linkTo, writeLink } from '@core/session/links'
import { useNotices } from '../stores/notices'
import { call } from './api'
import { copyText } from './clipboard'

const NOT_LINKED = 'A link names one session, or two that are compared. Files that are not imported have none.'

/** Copies the link to a session, or to two compared, and says so. */
export async function copyLink(ids: readonly string[]): Promise<void> {
  const notices = useNotices()
  const link = linkTo(ids)
  if (!link) return notices.show({ level: 'info', message: NOT_LINKED })
  try {
    await copyText(writeLink(link))
    notices.show({ level: 'info', message: 'Copied the link. It opens this view on a machine whose history has the session.' })
  } catch (error) {
    notices.fail(error, 'copy the link')
  }
}

/** Opens one more window, with a session or a comparison of two where ids are given. */
export async function openWindow(ids: readonly string[] = []): Promise<void> {
  const notices = useNotices()
  const link = ids.length > 0 ? linkTo(ids) : undefined
  if (ids.length > 0 && !link) return notices.show({ level: 'info', message: NOT_LINKED })
  try {
    await call('window:open', link ? { link } : {})
  } catch (error) {
    notices.fail(error, 'open a window')
  }
}
