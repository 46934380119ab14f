import { z } from 'zod'

/** Ids of sessions as links carry them; anything else is no link of ours. */
const ID = /^[A-Za-z0-9-]{1,64}$/
const linkedId = z.string().regex(ID)

/** A view that a link or another window opens: a session, or two sessions compared with the first as the baseline. */
export const linkSchema = z.discriminatedUnion('view', [z.object({ view: z.literal('session'), id: linkedId }), z.object({ view: z.literal('compare'), ids: z.tuple([linkedId, linkedId]) })])
export type Link = z.infer<typeof linkSchema>

/** URL scheme of links to sessions. */
export const LINK_SCHEME = 'opscope'
const LONGEST = 200

/**
 * What a link says: `opscope://session/<id>` or `opscope://compare/<baseline>/<other>`, with nothing before, behind or
 * between. Undefined for every other text.
 */
export function readLink(text: string): Link | undefined {
  if (text.length > LONGEST || !text.toLowerCase().startsWith(`${LINK_SCHEME}://`)) return undefined
  const [view, ...ids] = text.slice(LINK_SCHEME.length + 3).replace(/\/$/, '').split('/')
  const said = view === 'session' && ids.length === 1 ? { view, id: ids[0] } : view === 'compare' && ids.length === 2 ? { view, ids } : undefined
  const parsed = linkSchema.safeParse(said)
  return parsed.success ? parsed.data : undefined
}

/** The link to a view. */
export const writeLink = (link: Link): string => `${LINK_SCHEME}://${link.view}/${(link.view === 'session' ? [link.id] : link.ids).join('/')}`

/** The address of the view within the window's page. */
export const linkPath = (link: Link): string => (link.view === 'session' ? `/session/${link.id}` : `/compare?ids=${link.ids.join(',')}`)

/** A link to these sessions: to the one, or to two compared; undefined for files held open and for more. */
export function linkTo(ids: readonly string[]): Link | undefined {
  const parsed = linkSchema.safeParse(ids.length === 1 ? { view: 'session', id: ids[0] } : { view: 'compare', ids })
  return parsed.success ? parsed.data : undefined
}
