import { unpackBlock } from '@core/session/rows'
import { call } from '../../lib/api'
import { ResultRows } from './result-rows'

/** The first rows come alone, so that the table shows at once; the rest in pieces that hold up neither main nor the page. */
const FIRST_ROWS = 500
const PAGE_ROWS = 20_000

interface Entry {
  rows: ResultRows
  loading: Promise<void> | undefined
}

const entries = new Map<string, Entry>()
const KEPT = 3

function entryOf(id: string): Entry {
  let entry = entries.get(id)
  if (entry) entries.delete(id)
  else entry = { rows: new ResultRows(), loading: undefined }
  entries.set(id, entry)
  for (const old of entries.keys()) {
    if (entries.size <= KEPT) break
    entries.delete(old)
  }
  return entry
}

/** The rows of a session as far as they are here; the last few sessions are kept. */
export const rowsOf = (id: string): ResultRows => entryOf(id).rows

/** Forgets a session, so that the next look fetches it again. */
export const forgetRows = (id: string): boolean => entries.delete(id)

/** Forgets all sessions: another history is open. */
export const forgetAllRows = (): void => entries.clear()

/** Fetches the rows that are not here yet; main reads a piece while the page takes in the one before. */
export async function loadRows(id: string): Promise<void> {
  const entry = entryOf(id)
  entry.loading ??= (async () => {
    try {
      let first = entry.rows.length
      let count = first === 0 ? FIRST_ROWS : PAGE_ROWS
      let coming = call('sessions:rows', { id, first, count })
      for (;;) {
        const packed = await coming
        const isLast = packed.caseOf.length < count
        if (!isLast) {
          first += count
          count = PAGE_ROWS
          coming = call('sessions:rows', { id, first, count })
        }
        entry.rows.expect(packed.total)
        entry.rows.append(unpackBlock(packed))
        if (isLast) return
      }
    } finally {
      entry.loading = undefined
    }
  })()
  await entry.loading
}
