import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { runnerImport } from 'vite'
import { launch } from '../../test/e2e/launch.ts'
import { leavePicks, messages, scripted, view } from '../../test/e2e/ui.ts'
import { goTo, sessionIds } from './recorded.mjs'

const root = resolve(import.meta.dirname, '../..')
/** A module of the product or its tests, by its path from the root. */
export const load = async (path) => (await runnerImport(join(root, path), { root, configFile: false, logLevel: 'error', resolve: { alias: { '@core': join(root, 'core') } } })).module

const gpu = (device, state, more = {}) => ({ backend: 'cuda', device, name: 'NVIDIA H200', driver: '580.159.04', state, measured: 0, ...more })
const HOSTS = [
  { host: 'gpu-01', devices: [gpu('cuda:0', 'measuring', { current: 'softmax 16384x4096 bf16 cold kernel', seconds: 2, measured: 214, meanSeconds: 3, smClockMhz: 1980, temperatureC: 54 }), gpu('cuda:1', 'throttled', { current: 'matmul 8192x8192x8192 f32 hot kernel', seconds: 11, measured: 187, meanSeconds: 4, smClockMhz: 1410, temperatureC: 83 })] },
  { host: 'gpu-02', devices: [gpu('cuda:0', 'idle', { measured: 12, smClockMhz: 345, temperatureC: 31 }), gpu('cuda:1', 'waiting', { measured: 9 })] },
  { host: 'epyc-17', devices: [{ backend: 'cpu', device: 'cpu', name: 'AMD EPYC 9554', state: 'measuring', current: 'sum last 4096x4096 f32 hot avx512', seconds: 1, measured: 96, meanSeconds: 2 }] },
  { host: 'gpu-03', draining: true, devices: [gpu('cuda:0', 'measuring', { current: 'gelu 64Mi f16 cold kernel', seconds: 1, measured: 55, meanSeconds: 2, smClockMhz: 1965, temperatureC: 49 })] },
  { host: 'gpu-04', silent: true, devices: [gpu('cuda:0', 'measuring', { measured: 31 })] },
  { host: 'gpu-05', leaving: true, draining: true, devices: [gpu('cuda:0', 'idle', { measured: 140 })] },
]

/** A window at the fleet of this server, whose agents tell what HOSTS says. */
async function openAt(nats) {
  const { Cli } = await load('test/e2e/cli.ts')
  const { pack, presenceSubject, PRESENCE_MS } = await load('main/fleet/messages.ts')
  const line = await nats.connect()
  const tell = (hosts) => {
    for (const { host, devices, draining = false, leaving } of hosts) line.publish(presenceSubject(host), pack({ version: 1, host, opscope: '1.0.0', draining, ...(leaving ? { leaving } : {}), devices }))
  }
  const dataDir = mkdtempSync(join(tmpdir(), 'opscope-pictures-'))
  const long = { ...scripted(['slow']), measure: { rule: { id: 'fixed-time', seconds: 3600 }, maxSeconds: 3600 } }
  leavePicks(dataDir, scripted(['steady', 'noisy'], '64, 1024, 16384, 262144'), { savedSweeps: [{ name: 'Long', spec: long }] })
  writeFileSync(join(dataDir, 'fleet.json'), JSON.stringify({ server: nats.url }))
  const window = await launch({ dataDir, env: { OPSCOPE_TEST_BACKEND: '1' } })
  // Until the window has opened its first view, which would replace this one.
  await view(window.page, 'Devices')
  await goTo(window.page, '#/fleet')
  await window.page.getByText('connected', { exact: true }).waitFor({ timeout: 60_000 })
  tell(HOSTS)
  const telling = setInterval(() => line.isClosed() || tell(HOSTS.filter(({ silent, leaving }) => !silent && !leaving)), PRESENCE_MS)
  const running = []
  return {
    ...window,
    agents: {
      /** Starts a real agent, whose results are scripted. */
      async start(name) {
        const agent = new Cli().start(['fleet', 'up', '--server', nats.url, '--name', name, '--backends', 'fake'], { OPSCOPE_TEST_REAL_TIME: '1' })
        running.push(agent)
        await agent.says(`${name} measures for the fleet`)
      },
    },
    async close() {
      for (const agent of running) agent.child.kill('SIGKILL')
      clearInterval(telling)
      await window.close()
      await line.close()
      await nats.stop()
    },
  }
}

/** A fleet whose agents only tell what they do: measuring, throttled, idle, drained and lost. Needs nats-server. */
export const fleet = {
  settleMs: 1200,
  inOrder: true,
  messages: /^fleet-cancelled$/,
  async start() {
    const { Nats } = await load('test/servers/nats.ts')
    const nats = await Nats.start()
    try {
      return await openAt(nats)
    } catch (error) {
      await nats.stop()
      throw error
    }
  },
  views: {
    'fleet-hosts': async ({ page }) => {
      await page.getByRole('grid', { name: 'Hosts and devices' }).getByText('gpu-04').waitFor()
      // Until the silent one is taken for lost.
      await page.getByText(/No heartbeat/).waitFor({ timeout: 30_000 })
    },
    'fleet-search': ({ page }) => page.getByRole('searchbox', { name: 'Search hosts and devices' }).fill('epyc'),
    'fleet-nothing': ({ page }) => page.getByRole('searchbox', { name: 'Search hosts and devices' }).fill('no such host'),
    'fleet-run-dialog': async ({ page, agents }) => {
      await page.getByRole('searchbox', { name: 'Search hosts and devices' }).fill('')
      for (const name of ['n1', 'n2']) await agents.start(name)
      await page.getByRole('grid', { name: 'Hosts and devices' }).getByText('n2', { exact: true }).waitFor({ timeout: 30_000 })
      await page.getByRole('button', { name: 'Run on the fleet…' }).click()
      for (const name of ['n1', 'n2']) await page.getByLabel(new RegExp(`^${name}/fake:0`)).check()
      await page.getByTestId('fleet-plan').getByText(/cases, about/).waitFor()
    },
    'fleet-session': async ({ page }) => {
      await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click()
      await messages(page).getByText(/The fleet has measured all of/).waitFor({ timeout: 120_000 })
      const [id] = await sessionIds(page)
      await goTo(page, `#/session/${id}`)
      await page.getByText(/^[\d,]+ rows/).first().waitFor()
    },
    'fleet-compare-hosts': async ({ page }) => {
      const [id] = await sessionIds(page)
      await goTo(page, `#/compare?within=${id}&axis=host`)
      await page.getByRole('table', { name: 'Comparison by case' }).waitFor()
    },
    'fleet-queued': async ({ page }) => {
      await goTo(page, '#/fleet')
      await page.getByRole('button', { name: 'Run on the fleet…' }).click()
      await page.getByRole('combobox', { name: 'Sweep' }).selectOption('Long')
      await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByRole('button', { name: /^Cancel .+ fleet$/ }).waitFor({ timeout: 60_000 })
      await page.getByRole('grid', { name: 'Hosts and devices' }).getByText('slow').first().waitFor({ timeout: 60_000 })
    },
    'fleet-cancelled': async ({ page }) => {
      await page.getByRole('button', { name: /^Cancel .+ fleet$/ }).click()
      await messages(page).getByRole('button', { name: 'Undo' }).waitFor({ timeout: 60_000 })
    },
    'fleet-history': async ({ page }) => {
      await goTo(page, '#/history')
      await page.getByText('cancelled').first().waitFor()
    },
  },
}
