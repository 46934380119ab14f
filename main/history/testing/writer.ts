import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { openHistory } from '../../history'
import { testCase, testEnvironment, testResult, testSettings } from './sessions'

/** Writes results of a session into the file named on the command line until it is killed; prints the session, then each stored id. */
const { history } = openHistory(process.argv[2]!)
const cases = Array.from({ length: 1000 }, (_, n) => testCase(n))
const { id } = history.createSession({ name: 'writer', environment: testEnvironment, settings: testSettings, cases })
writeSync(1, `${id}\n`)
for (const c of cases) {
  const resultId = randomUUID()
  history.addResult(id, testResult(resultId, c))
  writeSync(1, `${resultId}\n`)
}
setInterval(() => undefined, 1000)
