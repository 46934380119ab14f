import type { BenchmarkCase } from '@core/case'
import { measureSettingsSchema } from '@core/measure/settings'
import { STATUSES } from '@core/result'
import { ROW_NUMBERS } from '@core/session/rows'
import type { Took } from '@core/sweep/estimate'
import { fromBytes } from './codec'
import { query, type Database } from './database'
import { readable } from './stored'

const OK = STATUSES.indexOf('ok')
const WALL = ROW_NUMBERS.indexOf('wallMs')

/** What the last cases took on this host, newest first, of the last `most` results; those of sessions without settings, or that cannot be read, are left out. */
export function lastTook(db: Database, host: string, most: number): Took[] {
  const rows = db.all(
    query
      .selectFrom('results')
      .innerJoin('cases', 'cases.key', 'results.case_key')
      .innerJoin('session_details', 'session_details.session', 'results.session')
      .select(['results.session', 'results.numbers', 'cases.json', 'session_details.settings', 'session_details.environment'])
      .where('results.status', '=', OK)
      .where('session_details.settings', 'is not', null)
      .orderBy('results.session', 'desc')
      .orderBy('results.position', 'desc')
      .limit(most),
  )
  const sessions = new Map<number, { settings: Took['settings']; names: Map<string, string> } | undefined>()
  return rows.flatMap(({ session, numbers, json, settings, environment }) => {
    if (!sessions.has(session)) sessions.set(session, sessionOf(settings, environment, host))
    const own = sessions.get(session)
    const [c] = readable<BenchmarkCase>([{ json }])
    const wallMs = fromBytes(numbers)[WALL]
    const deviceName = c && own?.names.get(`${c.backend} ${c.device}`)
    return own && c && deviceName !== undefined && wallMs !== undefined && wallMs > 0 ? [{ case: c, deviceName, settings: own.settings, wallSeconds: wallMs / 1000 }] : []
  })
}

/** Undefined for a session of another machine: an imported one says nothing of this. */
function sessionOf(settingsJson: string | null, environmentJson: string, host: string) {
  const [settings] = readable<unknown>([{ json: settingsJson ?? 'null' }])
  const [environment] = readable<{ host?: string; devices?: readonly { backend: string; id: string; name: string }[] }>([{ json: environmentJson }])
  const parsed = measureSettingsSchema.safeParse(settings)
  return parsed.success && environment?.host === host ? { settings: parsed.data, names: new Map((environment?.devices ?? []).map(({ backend, id, name }) => [`${backend} ${id}`, name])) } : undefined
}
