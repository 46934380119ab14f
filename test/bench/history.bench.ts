import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHistory } from '../../main/history'
import { compareStored } from '../../main/history/compare'
import { testCase, testEnvironment, testResult, testSettings } from '../../main/history/testing/sessions'
import { timeMs, type Bench } from './bench'

/** Invented results of `distinct` cases with 64 samples each. */
const results = (count: number, prefix: string, distinct = count) => Array.from({ length: count }, (_, i) => testResult(`${prefix}${i}`, testCase(1 + (i % distinct), ['add', 'exp', 'softmax'][i % 3]!), 64))

/** How fast the history stores and gives back: single durable results, import, 100,000 rows, many sessions. */
const bench: Bench = async ({ args, say }) => {
  const count = Number(args['count'] ?? 100_000)
  const folder = mkdtempSync(join(args['folder'] ?? tmpdir(), 'opscope-bench-'))
  const file = join(folder, 'history.db')
  const open = () => openHistory(file).history
  try {
    let history = open()
    say('1,000 results, each durable')
    const live = history.createSession({ name: 'live', environment: testEnvironment, settings: testSettings, cases: [] })
    const singles = results(1000, 's')
    const singleMs = timeMs(() => singles.forEach((result) => history.addResult(live.id, result)), 1)
    history.setState(live.id, 'done')

    say(`import of ${count} results`)
    const large = { ...history.exportSession(live.id), results: results(count, 'l', 30_000) }
    large.session = { ...large.session, id: 'large', planned: count }
    const importMs = timeMs(() => history.importSession(large), 1)

    say('2,000 more sessions')
    const [small] = [{ ...large, results: large.results.slice(0, 2) }]
    for (let i = 0; i < 2000; i++) history.importSession({ ...small!, session: { ...small!.session, id: `small${i}`, name: `Session ${i}` } })
    history.close()

    say('open and read')
    const openMs = timeMs(() => open().close())
    history = open()
    const firstRowsMs = timeMs(() => history.rows('large', 0, count), 1)
    const rowsMs = timeMs(() => history.rows('large', 0, count))
    const pageMs = timeMs(() => history.rows('large', count >> 1, 100))
    const resultMs = timeMs(() => history.result(`l${count >> 1}`), 101)
    const listMs = timeMs(() => history.listSessions({ search: '', deleted: false }))
    const searchMs = timeMs(() => history.listSessions({ search: 'session 19', deleted: false }))
    const other = history.importSession({ ...large, results: results(2000, 'c') })
    const compareMs = timeMs(() => compareStored(history, { sessionIds: [other.id, live.id] }), 3)
    history.close()
    return [
      { name: 'one result, durable when it returns', value: singleMs / 1000, unit: 'ms' },
      { name: 'durable results one by one', value: 1e6 / singleMs, unit: 'per second' },
      { name: `import of ${count} results with 64 samples`, value: (count * 1000) / importMs, unit: 'per second', aim: 5000, better: 'more' },
      { name: 'open the history', value: openMs, unit: 'ms' },
      { name: `all ${count} rows, first time`, value: firstRowsMs, unit: 'ms', aim: 200, better: 'less' },
      { name: `all ${count} rows, again`, value: rowsMs, unit: 'ms', aim: 200, better: 'less' },
      { name: '100 rows from the middle', value: pageMs, unit: 'ms' },
      { name: 'one result with samples', value: resultMs, unit: 'ms' },
      { name: 'list 2,002 sessions', value: listMs, unit: 'ms' },
      { name: 'search 2,002 sessions', value: searchMs, unit: 'ms' },
      { name: 'compare 1,000 cases', value: compareMs, unit: 'ms' },
      { name: 'size of the file', value: statSync(file).size / 2 ** 20, unit: 'MiB' },
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}
export default bench
