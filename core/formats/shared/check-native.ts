import { resultSchema, type Result } from '../../result'
import type { SessionStream } from '../../session/stream'
import { sessionFileSchema, type SessionFile } from '../../session/types'
import { describeIssues } from './check'

const headSchema = sessionFileSchema.omit({ results: true })
const refuse = (what: string) => new Error(`the session cannot be exported: ${what}`)

/** What a native file has beside the results, with the fields of the schema only. Throws saying what is not valid. */
export function checkedHead(session: SessionStream): Omit<SessionFile, 'results'> {
  const parsed = headSchema.safeParse(session)
  if (!parsed.success) throw refuse(describeIssues(parsed.error.issues, session))
  return parsed.data
}

/** Each result with the fields of the schema only; throws at one that is not valid, with its place in the session. */
export function* checkedResults({ results }: SessionStream): Generator<Result, void> {
  let i = 0
  for (const result of results) {
    const parsed = resultSchema.safeParse(result)
    if (!parsed.success) throw refuse(describeIssues(parsed.error.issues.map((issue) => ({ ...issue, path: ['results', i, ...issue.path] })), { results: { [i]: result } }))
    yield parsed.data
    i++
  }
}
