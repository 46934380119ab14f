import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Result } from '@core/result'
import { openHistory } from '../../main/history'
import { testCase, testEnvironment, testResult, testSettings } from '../../main/history/testing/sessions'
import { dataPaths } from '../../main/paths'
import { median, pageProcessBytes, quantile, startApp, whenShown, type BenchApp } from './app'
import { loadFigure, type Bench } from './bench'

const OPS = ['copy', 'add', 'exp', 'gelu', 'mul']
const IMPLS = ['scalar', 'sse2', 'avx2', 'avx512']

/** An invented result of its own time, so that sorting has something to do. */
function result(i: number): Result {
  const c = { ...testCase(1 + (i % 6000) * 64, OPS[i % OPS.length]!), impl: IMPLS[Math.floor(i / 30_000) % IMPLS.length]! }
  const made = testResult(`r${i}`, c, 64)
  const factor = 1 + ((i * 7919) % 100_003) / 1000
  const scaled = Object.fromEntries(Object.entries(made.summary!).map(([name, value]) => [name, typeof value === 'number' && name.endsWith('Ns') ? value * factor : value]))
  return { ...made, bytes: 4 * (i % 1009), summary: { ...made.summary!, ...scaled }, samplesNs: made.samplesNs.map((ns) => ns * factor) }
}

/** A data folder whose history holds one session of `count` invented results with 64 samples each, and one of ten. */
function prepare(count: number): { dataDir: string; large: string; small: string } {
  const dataDir = mkdtempSync(join(tmpdir(), 'opscope-bench-'))
  const { history } = openHistory(dataPaths(dataDir).history)
  const made = history.createSession({ name: 'made', environment: testEnvironment, settings: testSettings, cases: [] })
  const results = Array.from({ length: count }, (_, i) => result(i))
  const file = history.exportSession(made.id)
  const imported = (name: string, some: Result[]) => history.importSession({ ...file, results: some, session: { ...file.session, id: name, name, planned: some.length, state: 'done' } }).id
  const ids = { large: imported('large', results), small: imported('small', results.slice(0, 10)) }
  history.close()
  return { dataDir, ...ids }
}

const GRID = "document.querySelector('[role=grid][aria-label=Results]')"
const rowsShown = (count: number) => `${GRID} && Number(${GRID}.getAttribute('aria-rowcount')) === ${count + 1} && ${GRID}.querySelector('[data-row]')`

/** Opens a session by its address and waits; ms until its first rows and until all of them are in the table. */
const open = (id: string, count: number) => `(async () => {
  const from = performance.now()
  location.hash = '#/session/${id}'
  const first = await ${whenShown(`location.hash.includes('${id}') && ${GRID} && Number(${GRID}.getAttribute('aria-rowcount')) > 11 && ${GRID}.querySelector('[data-row]')`)}
  const all = await ${whenShown(rowsShown(count))}
  return { first: first - from, all: all - from }
})()`

/** Clicks the head of a column and waits for the frame that shows the new order. */
const sortBy = (column: string) => `(async () => {
  const ids = () => [...${GRID}.querySelectorAll('[data-row]')].map((row) => row.textContent).join()
  const before = ids()
  const from = performance.now()
  ${GRID}.querySelector('[data-sort="${column}"]').click()
  return (await ${whenShown('ids() !== before')}) - from
})()`

/** Times between frames while the wheel turns, in ms. */
async function scrollFrames(app: BenchApp, turns: number): Promise<number[]> {
  const { x, y } = await app.evaluate<{ x: number; y: number }>(`(() => { ${GRID}.scrollTop = 0; const r = ${GRID}.getBoundingClientRect(); return { x: r.x + r.width / 2, y: r.y + r.height / 2 } })()`)
  const frames = app.evaluate<number[]>(`new Promise((resolve) => {
    const times = []
    let last, still = 0, top = ${GRID}.scrollTop
    const look = (now) => {
      const moved = ${GRID}.scrollTop !== top
      top = ${GRID}.scrollTop
      // Frames in which the table moved are what a user sees.
      if (last !== undefined && moved) times.push(now - last)
      still = moved ? 0 : still + 1
      last = now
      if (times.length > 0 && still > 60) resolve(times)
      else requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })`)
  for (let i = 0; i < turns; i++) await app.wheel(x, y, 360)
  return frames
}

/** Bytes after a collection: JavaScript objects, and everything the page's process has for itself. */
async function memory(app: BenchApp): Promise<{ heap: number; process: number | undefined }> {
  await app.send('HeapProfiler.collectGarbage')
  const { usedSize } = await app.send<{ usedSize: number }>('Runtime.getHeapUsage')
  return { heap: usedSize, process: pageProcessBytes(app.pid) }
}

/** A session of 100,000 results in the app's window: open, sort, scroll, memory. */
const bench: Bench = async ({ args, say }) => {
  const count = Number(args['count'] ?? 100_000)
  const repeats = Number(args['repeats'] ?? 5)
  say(`${count} results`)
  const { dataDir, large, small } = prepare(count)
  const app = await startApp({ dataDir })
  try {
    await app.evaluate(whenShown("performance.getEntriesByName('opscope:interactive').length"))
    // The chart library and the view's own code are there after one look at another session.
    const opens: { first: number; all: number }[] = []
    for (let i = 0; i < repeats; i++) {
      await app.evaluate(`location.hash = '#/session/${small}'`)
      await app.evaluate(whenShown(rowsShown(10)))
      await app.evaluate('new Promise((resolve) => setTimeout(resolve, 1500))')
      opens.push(await app.evaluate(open(large, count)))
      say(`open: first rows ${Math.round(opens.at(-1)!.first)} ms, all ${Math.round(opens.at(-1)!.all)} ms`)
      if (i + 1 < repeats) {
        await app.evaluate("location.hash = '#/run'")
        await app.send('Page.reload')
        await app.evaluate('new Promise((resolve) => setTimeout(resolve, 500))').catch(() => undefined)
        await app.evaluate(whenShown("performance.getEntriesByName('opscope:interactive').length"))
      }
    }
    await app.evaluate('new Promise((resolve) => setTimeout(resolve, 1500))')
    const sorts: number[] = []
    for (let i = 0; i < repeats; i++) for (const column of ['median', 'bandwidth', 'op']) sorts.push(await app.evaluate<number>(sortBy(column)))
    say(`sort: ${sorts.map(Math.round).join(', ')} ms`)
    const frames: number[] = []
    for (let i = 0; i < repeats; i++) frames.push(...(await scrollFrames(app, 60)))
    const { heap, process } = await memory(app)
    return [
      { name: `open: first rows on screen, median of ${repeats}`, value: median(opens.map((o) => o.first)), unit: 'ms', aim: 300, better: 'less' },
      { name: `open: all ${count} rows in the table, median of ${repeats}`, value: median(opens.map((o) => o.all)), unit: 'ms' },
      { name: `sort by a column, median of ${sorts.length}`, value: median(sorts), unit: 'ms', aim: 150, better: 'less' },
      { name: 'sort by a column, p95', value: quantile(sorts, 0.95), unit: 'ms' },
      { name: `time between frames while scrolling by wheel, p50 of ${frames.length}`, value: quantile(frames, 0.5), unit: 'ms', aim: 16.8, better: 'less' },
      { name: 'time between frames while scrolling by wheel, p95', value: quantile(frames, 0.95), unit: 'ms', aim: 16.8, better: 'less' },
      { name: 'memory of the page: JavaScript heap', value: heap / 1e6, unit: 'MB' },
      ...(process === undefined ? [] : [{ name: 'memory of the page: its whole process', value: process / 1e6, unit: 'MB', aim: 400, better: 'less' as const }]),
      loadFigure(),
    ]
  } finally {
    await app.close()
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}
export default bench
