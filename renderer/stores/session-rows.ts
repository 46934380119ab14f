import { call } from '../lib/api'
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

/** Fetches the rows that are not here yet. */
export async function loadRows(id: string): Promise<void> {
  const entry = entryOf(id)
  entry.loading ??= (async () => {
    try {
      for (;;) {
        const first = entry.rows.length
        const count = first === 0 ? FIRST_ROWS : PAGE_ROWS
        const block = await call('sessions:rows', { id, first, count })
        entry.rows.append(block)
        if (block.ids.length < count || entry.rows.length === first) return
      }
    } finally {
      entry.loading = undefined
    }
  })()
  await entry.loading
}
