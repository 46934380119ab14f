import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { changePoints } from '@core/analysis/change-points'
import { caseId, type BenchmarkCase } from '@core/case'
import type { Result } from '@core/result'
import { filterSessions, NO_FILTER } from '@core/session/filter'
import { packBlock } from '@core/session/rows'
import type { SessionFile } from '@core/session/types'
import { openHistory } from '../../main/history'
import { backUp } from '../../main/history/maintenance/backup'
import { checkFile } from '../../main/history/maintenance/check'
import { testCase, testEnvironment, testResult, testSettings } from '../../main/history/testing/sessions'
import { dataPaths } from '../../main/paths'
import { median, startApp, whenShown } from './app'
import { loadFigure, timeMs, type Bench, type Figure } from './bench'

const OPS = ['add', 'copy', 'exp', 'gelu', 'layer_norm', 'matmul', 'mul', 'softmax']
const TAGS = ['nightly', 'release', 'driver', 'h200', 'laptop', 'before', 'after']

/** Cases of session `s`: the same ones every night, so that each has a history through all sessions. */
const caseOf = (i: number): BenchmarkCase => ({ ...testCase(1024 * (1 + (i >> 3)), OPS[i % OPS.length]!), impl: (i >> 2) % 2 ? 'avx2' : 'avx512' })

function sessionOf(s: number, results: number, changeAt: number, template: Result): SessionFile {
  const id = `session-${s}`
  return {
    schemaVersion: 2,
    session: { id, name: `Night ${s} on the bench`, createdAt: new Date(Date.UTC(2024, 0, 1) + s * 43_200_000).toISOString(), notes: s % 10 === 0 ? 'Fans at full speed, nothing else running.' : '', tags: [TAGS[s % TAGS.length]!, TAGS[(s >> 3) % TAGS.length]!], state: 'done', planned: results, settings: testSettings },
    environment: { ...testEnvironment, kernel: `6.${Math.floor(s / 300)}` },
    results: Array.from({ length: results }, (_, i) => ({ ...template, id: `${s}-${i}`, case: caseOf(i), wallMs: s + i / 1000, summary: { ...template.summary!, medianNs: 1000 * (1 + i) * (s < changeAt ? 1 : 1.05) * (1 + 0.002 * Math.sin(s * 12.9898)) } })),
  }
}

/** Times of the window: list from another view, and a session's first rows. */
async function window(dataDir: string, sessions: number, repeats: number): Promise<Figure[]> {
  // A history that was kept has been looked at: the app would start where it was left.
  rmSync(dataPaths(dataDir).settings, { force: true })
  const app = await startApp({ dataDir })
  try {
    await app.evaluate(whenShown("performance.getEntriesByName('opscope:interactive').length"))
    const lists: number[] = []
    const opens: number[] = []
    const cases: number[] = []
    const pause = () => app.evaluate('new Promise((resolve) => setTimeout(resolve, 800))')
    const timed = (hash: string, shown: string) => app.evaluate<number>(`(async () => { const from = performance.now(); location.hash = ${JSON.stringify(hash)}; return (await ${whenShown(shown)}) - from })()`)
    const GRID = "document.querySelector('[role=grid][aria-label=Results]')"
    for (let i = 0; i <= repeats; i++) {
      await app.evaluate("location.hash = '#/devices'")
      await pause()
      lists.push(await timed('#/history', "document.querySelectorAll('[role=grid][aria-label=Sessions] [role=gridcell]').length > 50"))
      await pause()
      opens.push(await timed(`#/session/session-${(sessions >> 1) + i}`, `location.hash.includes('session-${(sessions >> 1) + i}') && ${GRID} && Number(${GRID}.getAttribute('aria-rowcount')) > 100 && ${GRID}.querySelector('[data-row]')`))
      await pause()
      cases.push(await timed(`#/case?case=${encodeURIComponent(caseId(caseOf(3 + i)))}`, "document.querySelector('[data-testid=case-verdict]') && document.querySelector('[data-testid=chart] canvas')"))
      await pause()
    }
    // The first of each also loads the view's code.
    const rest = (times: number[]) => median(times.slice(1))
    return [
      { name: `window: list of sessions on screen, median of ${repeats}`, value: rest(lists), unit: 'ms', aim: 100, better: 'less' },
      { name: `window: first rows of a session on screen, median of ${repeats}`, value: rest(opens), unit: 'ms', aim: 300, better: 'less' },
      { name: `window: one case's history drawn, median of ${repeats}`, value: rest(cases), unit: 'ms', aim: 200, better: 'less' },
    ]
  } finally {
    await app.close()
  }
}

/** Makes the history session by session; ms it took. */
function build(file: string, sessions: number, each: number, say: (text: string) => void): number {
  say(`${sessions} sessions of ${each} results, imported one by one`)
  const { history } = openHistory(file)
  const template = testResult('template', testCase(1), 16)
  const importMs = timeMs(() => {
    for (let s = 0; s < sessions; s++) history.importSession(sessionOf(s, each, sessions * 0.6, template))
  }, 1)
  history.close()
  say(`${Math.round(statSync(file).size / 2 ** 20)} MiB in ${Math.round(importMs / 1000)} s`)
  return importMs
}

/**
 * A history of years: 2,000 sessions with 1,000,000 results. Listed, searched, opened, one case followed; checked and
 * backed up. `keep=FOLDER` keeps the history there and uses it again; `window=only` measures the app's window alone.
 */
const bench: Bench = async ({ args, say }) => {
  const sessions = Number(args['sessions'] ?? 2000)
  const each = Number(args['each'] ?? 500)
  const repeats = Number(args['repeats'] ?? 5)
  const kept = args['keep']
  if (kept !== undefined) mkdirSync(kept, { recursive: true })
  const folder = kept ?? mkdtempSync(join(args['folder'] ?? tmpdir(), 'opscope-bench-'))
  const file = dataPaths(folder).history
  try {
    const importMs = existsSync(file) ? undefined : build(file, sessions, each, say)
    if (args['window'] === 'only') return [...(await window(folder, sessions, repeats)), loadFigure()]

    const openMs = timeMs(() => openHistory(file).history.close(), 3)
    const { history } = openHistory(file)
    const all = { search: '', deleted: false }
    const listMs = timeMs(() => history.listSessions(all))
    const list = history.listSessions(all)
    const filterMs = timeMs(() => filterSessions(list, { ...NO_FILTER, search: 'night full', tags: ['nightly'], ops: ['softmax'], from: '2024-06-01' }))
    let at = 0
    const rowsMs = timeMs(() => packBlock(history.rows(`session-${(at += 97) % sessions}`, 0, 500)), 15)
    let n = 0
    const caseMs = timeMs(() => history.caseHistory(caseId(caseOf((n += 31) % each))), 15)
    const followed = history.caseHistory(caseId(caseOf(7)))
    const changesMs = timeMs(() => changePoints(followed.points, 0.01), 5)
    history.close()
    say(`one case: ${followed.points.length} points, ${changePoints(followed.points, 0.01).changes.length} change`)
    const shown = args['window'] === 'no' ? [] : await window(folder, sessions, repeats)
    say('check and backup')
    const checkMs = timeMs(() => checkFile(file), 1)
    const backup = join(folder, 'backup.sqlite')
    const backupMs = timeMs(() => backUp(file, backup), 1)
    rmSync(backup)
    return [
      ...(importMs === undefined ? [] : [{ name: `import of ${sessions * each} results, 16 samples each`, value: (sessions * each * 1000) / importMs, unit: 'per second' }]),
      { name: 'size of the file', value: statSync(file).size / 2 ** 20, unit: 'MiB' },
      { name: 'open the history', value: openMs, unit: 'ms' },
      { name: `list ${sessions} sessions`, value: listMs, unit: 'ms', aim: 100, better: 'less' },
      { name: 'narrow the list', value: filterMs, unit: 'ms' },
      { name: 'first rows of a session', value: rowsMs, unit: 'ms', aim: 300, better: 'less' },
      { name: `one case's history over ${followed.points.length} sessions`, value: caseMs, unit: 'ms', aim: 200, better: 'less' },
      { name: 'its change points', value: changesMs, unit: 'ms' },
      ...shown,
      { name: 'check all of it', value: checkMs / 1000, unit: 's' },
      { name: 'back it up and read it again', value: backupMs / 1000, unit: 's' },
      loadFigure(),
    ]
  } finally {
    if (kept === undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}
export default bench
