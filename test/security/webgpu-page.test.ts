import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch, SOFTWARE_GPU, type Launched } from '../e2e/launch'

let opened: Launched
let page: Page
beforeAll(async () => {
  opened = await launch({ env: SOFTWARE_GPU })
  // Asked again and again: a window is reported before it has an address.
  const hidden = () => opened.app.windows().find((candidate) => candidate.url().includes('/webgpu/'))
  while (!hidden()) await new Promise((done) => setTimeout(done, 50))
  page = hidden()!
  await page.waitForFunction(() => window.opscopeHost !== undefined)
})
afterAll(() => opened.close())

const watching = () => opened.app.evaluate(({ app }) => app.getAppMetrics().filter(({ name }) => name === 'Opscope GPU watch').length)

/** Rules 1 and 5 for the hidden page that measures WebGPU. */
describe('the page that measures WebGPU', () => {
  it('is given a port, the watch of its card, sweeps of its cache, and nothing else', async () => {
    const exposed = await page.evaluate(() => {
      const { watch, sweeps, ...port } = window.opscopeHost!
      return { port: Object.keys(port).sort(), watch: Object.keys(watch ?? {}).sort(), sweeps: Object.keys(sweeps ?? {}).sort(), frozen: Object.isFrozen(window.opscopeHost), node: ['require', 'process', 'Buffer'].map((name) => typeof Reflect.get(window, name)) }
    })
    expect(exposed).toEqual({ port: ['onMessage', 'send'], watch: ['begin', 'end', 'open', 'startEnergy', 'stopEnergy'], sweeps: ['get', 'put'], frozen: true, node: ['undefined', 'undefined', 'undefined'] })
  })

  it('gets no watch for what is no name, and starts nothing by asking', async () => {
    const answers = await page.evaluate(async () => {
      const watch = window.opscopeHost!.watch!
      const open = watch.open as (name?: unknown) => Promise<unknown>
      watch.begin(true)
      return [await watch.end(), await watch.startEnergy(), await watch.stopEnergy(), ...(await Promise.all([undefined, null, 7, '', 'x'.repeat(10_000), { name: 'x' }, ['x']].map((name) => open(name))))]
    })
    expect(answers).toEqual([undefined, undefined, undefined, false, false, false, false, false, false, false])
    expect(await watching()).toBe(0)
  })

  it('gets no watch for a card that is not there, and no process stays behind', async () => {
    expect(await page.evaluate(() => window.opscopeHost!.watch!.open('NVIDIA of another machine'))).toBe(false)
    await expect.poll(watching).toBe(0)
  })

  it('has sweeps kept that are some, and nothing else', async () => {
    const kept = await page.evaluate(async () => {
      const sweeps = window.opscopeHost!.sweeps!
      const put = sweeps.put as (key: unknown, rates: unknown) => void
      for (const [key, rates] of [['../x', 'text'], [{}, []], ['x', [{ bytes: 'many', rate: 1 }]], ['y'.repeat(5000), [{ bytes: 1, rate: 1 }]]]) put(key, rates)
      sweeps.put('an adapter', [{ bytes: 1024, rate: 2.5 }])
      return [await sweeps.get('x'), await sweeps.get('y'.repeat(5000)), await sweeps.get('an adapter')]
    })
    expect(kept).toEqual([undefined, undefined, { key: 'an adapter', measuredAt: expect.any(String) as string, rates: [{ bytes: 1024, rate: 2.5 }] }])
  })

  it('alone may load libraries that the user installed and compile their WebAssembly', async () => {
    const list = (from: Page) => from.evaluate(() => fetch('/libraries/index.json').then((answer) => answer.status))
    expect(await list(page)).toBe(200)
    expect(await list(opened.page)).toBe(404)
    const policy = await page.evaluate(() => fetch(location.href).then((answer) => answer.headers.get('Content-Security-Policy')))
    expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval';")
    expect(policy).not.toContain("'unsafe-eval'")
  })
})
