import { rmSync } from 'node:fs'
import { bareElectronMs, median, startApp, whenShown, type BenchApp } from './app'
import { loadFigure, type Bench } from './bench'

interface Start {
  bareMs: number
  pageMs: number
  shownMs: number
  interactiveMs: number
  allDevicesMs: number
  firstResultMs: number
}

/** Marks of the page in ms since the process was started. `opscope:interactive`: operations can be picked and a device is listed. */
const startTimes = (app: BenchApp) =>
  app.evaluate<{ page: number; paint: number; interactive: number }>(`(async () => {
    await ${whenShown("performance.getEntriesByName('opscope:interactive').length && performance.getEntriesByName('first-contentful-paint').length")}
    const at = (name) => performance.timeOrigin + performance.getEntriesByName(name)[0].startTime - ${app.startedAt}
    return { page: performance.timeOrigin - ${app.startedAt}, paint: at('first-contentful-paint'), interactive: at('opscope:interactive') }
  })()`)

/** Click on Run, until a frame shows a row of the table. */
async function firstResult(app: BenchApp): Promise<number> {
  const button = "[...document.querySelectorAll('button')].find((b) => /^Run/.test(b.textContent.trim()) && !b.disabled)"
  await app.evaluate(whenShown(button))
  const { x, y } = await app.evaluate<{ x: number; y: number }>(`(() => { const r = (${button}).getBoundingClientRect(); return { x: r.x + r.width / 2, y: r.y + r.height / 2 } })()`)
  await app.evaluate("addEventListener('pointerdown', () => performance.mark('bench:click'), { capture: true, once: true })")
  const shown = app.evaluate<number>(whenShown("document.querySelector('[role=grid] [data-row]')", 60_000))
  await app.click(x, y)
  const at = await shown
  return at - (await app.evaluate<number>("performance.getEntriesByName('bench:click')[0].startTime"))
}

/** Unticks the first operation and ticks it again; whether the tree showed both. */
const PICK_AND_UNPICK = `(async () => {
  const box = () => document.querySelector('[aria-labelledby=pick-ops] input[type=checkbox][aria-label]')
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  const states = [box().checked]
  for (let i = 0; i < 2; i++) { box().click(); await frame(); states.push(box().checked) }
  return states[0] !== states[1] && states[0] === states[2]
})()`

async function once(dataDir: string | undefined): Promise<Start & { dataDir: string }> {
  const bareMs = await bareElectronMs()
  const app = await startApp(dataDir === undefined ? {} : { dataDir })
  try {
    const { page, paint, interactive } = await startTimes(app)
    if (!(await app.evaluate<boolean>(PICK_AND_UNPICK))) throw new Error('the operation tree does not answer a click')
    const all = await app.evaluate<number>(whenShown("document.querySelector('[aria-label=\"Backends and devices\"]') && !document.querySelector('[aria-label=\"Backends and devices\"] [role=status]')", 60_000))
    const origin = await app.evaluate<number>('performance.timeOrigin')
    // A start without sessions shows a welcome where the table will be.
    await app.evaluate("[...document.querySelectorAll('button')].find((b) => b.textContent.trim() === 'Pick for myself')?.click()")
    const firstResultMs = await firstResult(app)
    return { bareMs, pageMs: page, shownMs: paint, interactiveMs: interactive, allDevicesMs: origin + all - app.startedAt, firstResultMs, dataDir: app.dataDir }
  } finally {
    await app.close()
  }
}

/** Start of the app, and from the click on Run to the first row, in real Electron with a software WebGPU adapter. */
const bench: Bench = async ({ args, say }) => {
  const repeats = Number(args['repeats'] ?? 7)
  const starts: Start[] = []
  for (let i = 0; i < repeats; i++) {
    const start = await once(undefined)
    rmSync(start.dataDir, { recursive: true, force: true })
    starts.push(start)
    say(`bare Electron ${Math.round(start.bareMs)} ms, page begun ${Math.round(start.pageMs)} ms, window ${Math.round(start.shownMs)} ms, interactive ${Math.round(start.interactiveMs)} ms, all devices ${Math.round(start.allDevicesMs)} ms, first result ${Math.round(start.firstResultMs)} ms`)
  }
  const of = (key: keyof Start) => starts.map((start) => start[key])
  const both = (name: string, key: keyof Start, aim?: number) => [
    { name: `${name}, median of ${repeats}`, value: median(of(key)), unit: 'ms', ...(aim === undefined ? {} : { aim, better: 'less' as const }) },
    { name: `${name}, fastest`, value: Math.min(...of(key)), unit: 'ms' },
  ]
  return [
    ...both('an Electron that shows an empty window and does nothing else, for comparison', 'bareMs'),
    ...both('process start to the begin of the page', 'pageMs'),
    ...both('process start to first paint of the window', 'shownMs'),
    ...both('process start to interactive (operations can be picked, CPU listed)', 'interactiveMs', 1500),
    ...both('process start to all devices listed', 'allDevicesMs'),
    ...both('click on Run to the first result row on screen', 'firstResultMs', 1000),
    loadFigure(),
  ]
}
export default bench
