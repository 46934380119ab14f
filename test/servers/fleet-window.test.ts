import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { SweepSpec } from '@core/session/sweep-spec'
import type { SessionSummary } from '@core/session/types'
import { Cli, type Running } from '../e2e/cli'
import { launch, type Launched } from '../e2e/launch'
import { violations } from '../e2e/axe'
import { Nats, noNats } from './nats'
import { Accounts } from './nats-accounts'
import { leavePicks, messages, scripted, sessions, view } from '../e2e/ui'

let nats: Nats | undefined
let agent: Running | undefined
let opened: Launched | undefined
afterEach(async () => {
  await opened?.close()
  agent?.child.kill('SIGKILL')
  await agent?.ended
  await nats?.stop()
  nats = agent = opened = undefined
})

describe.skipIf(noNats !== undefined)(`results of a fleet${noNats ? ` (skipped: ${noNats})` : ''}`, () => {
  it('that came while the window was closed are in the history after its next start', async () => {
    nats = await Nats.start()
    const cli = new Cli()
    const server = ['--server', nats.url]
    agent = new Cli().start(['fleet', 'up', ...server, '--name', 'n1', '--backends', 'fake'])
    await agent.says('n1 measures for the fleet')
    const hosts = async () => (JSON.parse((await cli.run(['fleet', 'status', ...server, '--json'])).out) as { hosts: unknown[] }).hosts.length
    await expect.poll(hosts, { timeout: 60_000 }).toBe(1)
    expect((await cli.run(['fleet', 'run', ...server, '--detach', '--name', 'Far away', '--ops', 'add', '--sizes', 'vector=64,65,66', '--impls', 'steady', '--modes', 'hot', '--preset', 'quick'])).status).toBe(0)
    opened = await launch({ dataDir: cli.folder, env: { OPSCOPE_TEST_BACKEND: '1' } })
    const { page } = opened
    await messages(page).getByText('The fleet has measured all of “Far away”.').waitFor({ timeout: 60_000 })
    await view(page, 'History')
    await sessions(page).getByText('Far away').waitFor()
    const [session] = await cli.json<SessionSummary[]>('sessions')
    expect(session).toMatchObject({ name: 'Far away', results: 3, planned: 3, state: 'done', devices: ['Scripted device'] })
    expect(opened.pageErrors).toEqual([])
  })

  it('are watched, run and drained in the Fleet view', async () => {
    nats = await Nats.start()
    const server = ['--server', nats.url]
    agent = new Cli().start(['fleet', 'up', ...server, '--name', 'n1', '--backends', 'fake'], { OPSCOPE_TEST_REAL_TIME: '1' })
    await agent.says('n1 measures for the fleet')
    // A short sweep: the picks of a first start are measured for most of a minute.
    const dataDir = mkdtempSync(join(tmpdir(), 'opscope-fleet-'))
    const long: SweepSpec = { ...scripted(['slow']), measure: { rule: { id: 'fixed-time', seconds: 3600 }, maxSeconds: 3600 } }
    leavePicks(dataDir, scripted(['steady']), { savedSweeps: [{ name: 'Long', spec: long }] })
    opened = await launch({ dataDir, env: { OPSCOPE_TEST_BACKEND: '1' } })
    const { app, page } = opened
    await app.evaluate(({ dialog }) => {
      dialog.showMessageBox = () => Promise.resolve({ response: 1, checkboxChecked: false })
    })
    await view(page, 'Devices')
    await page.getByRole('button', { name: 'Fleet', exact: true }).click()
    await page.getByText('No NATS server is set').waitFor()
    await page.getByRole('textbox', { name: 'Server' }).fill('nats://127.0.0.1:1')
    await page.getByRole('button', { name: 'Connect' }).click()
    await page.getByRole('alert').getByText('The NATS server nats://127.0.0.1:1 cannot be used').waitFor()
    await page.getByRole('textbox', { name: 'Server' }).fill(nats.url)
    await page.getByRole('button', { name: 'Connect' }).click()
    const grid = page.getByRole('grid', { name: 'Hosts and devices' })
    await grid.getByText('Scripted device').waitFor({ timeout: 60_000 })
    await page.getByRole('button', { name: 'Run on the fleet…' }).click()
    await page.getByLabel(/^n1\/fake:0/).check()
    await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click()
    await messages(page).getByText(/The fleet has measured all of “.+ fleet”/).waitFor({ timeout: 60_000 })
    // A sweep that would take hours is cancelled, queued again by Undo, and cancelled again.
    await page.getByRole('button', { name: 'Run on the fleet…' }).click()
    await page.getByRole('combobox', { name: 'Sweep' }).selectOption('Long')
    await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click()
    const cancel = page.getByRole('button', { name: /^Cancel .+ fleet$/ })
    await cancel.waitFor({ timeout: 60_000 })
    await grid.getByText('slow', { exact: false }).waitFor({ timeout: 60_000 })
    expect(await violations(page)).toEqual([])
    for (const again of [true, false]) {
      await cancel.click()
      await messages(page).getByText(/^3 cases of “.+ fleet” cancelled\./).waitFor({ timeout: 60_000 })
      if (!again) break
      await messages(page).getByRole('button', { name: 'Undo' }).click()
      await messages(page).getByText('3 cases queued again.').waitFor({ timeout: 60_000 })
    }
    await cancel.waitFor({ state: 'hidden' })
    await grid.getByText('slow', { exact: false }).waitFor({ state: 'hidden' })
    await grid.getByRole('button', { name: 'Drain' }).click()
    expect((await agent.ended).status).toBe(0)
    await grid.getByText(/Its agent was drained or stopped/).waitFor()
    expect(opened.pageErrors).toEqual([])
  })

  it('are reached with credentials over TLS, from agent, command line and window, and wrong ones are refused in one sentence', async () => {
    const accounts = new Accounts()
    nats = await Nats.start({ config: accounts.config })
    const url = `tls://localhost:${nats.port}`
    const as = (creds: string) => ['--server', url, '--creds', creds, '--tls-ca', accounts.authority]
    agent = new Cli().start(['fleet', 'up', ...as(accounts.user('agent')), '--name', 'n1', '--backends', 'fake'])
    await agent.says('n1 measures for the fleet')
    const cli = new Cli()
    const [stranger, expired] = [accounts.user('stranger', { stranger: true }), accounts.user('expired', { expired: true })]
    for (const file of [stranger, expired]) {
      const { status, err } = await cli.run(['fleet', 'status', ...as(file)])
      expect([status, err]).toEqual([1, expect.stringMatching(new RegExp(`^opscope: the NATS server tls://localhost:\\d+ cannot be used: it refuses the credentials in ${basename(file)} .*\n$`))])
    }
    expect((await cli.run(['fleet', 'status', ...as(accounts.authority)])).err).toMatch(/^opscope: cert\.pem cannot be used as credentials of NATS: .*\n$/)
    expect((await cli.run(['fleet', 'status', '--server', url, '--tls-ca', accounts.authority])).err).toMatch(/cannot be used: it requires credentials .*\n$/)

    opened = await launch({ dataDir: cli.folder, env: { OPSCOPE_TEST_BACKEND: '1' } })
    const { app, page } = opened
    /** What the next two dialogs give: credentials, then the authority. */
    const choose = (...files: string[]) => app.evaluate(({ dialog }, given) => {
      dialog.showMessageBox = () => Promise.resolve({ response: 1, checkboxChecked: false })
      dialog.showOpenDialog = () => Promise.resolve({ canceled: false, filePaths: given.splice(0, 1) })
    }, files)
    await view(page, 'Devices')
    await page.getByRole('button', { name: 'Fleet', exact: true }).click()
    await page.getByRole('textbox', { name: 'Server' }).fill(url)
    await page.getByRole('combobox', { name: 'Credentials' }).selectOption('creds')
    await page.getByRole('checkbox', { name: /Private certificate authority/ }).check()
    await choose(stranger, accounts.authority)
    await page.getByRole('button', { name: 'Connect' }).click()
    await page.getByRole('alert').getByText(/cannot be used: it refuses the credentials in stranger\.creds/).waitFor()
    await choose(accounts.user('window'), accounts.authority)
    await page.getByRole('button', { name: 'Connect' }).click()
    await page.getByRole('grid', { name: 'Hosts and devices' }).getByText('Scripted device').waitFor({ timeout: 60_000 })
    // Files are named, not copied.
    expect(JSON.parse(readFileSync(join(cli.folder, 'fleet.json'), 'utf8'))).toEqual({ server: url, creds: join(accounts.folder, 'window.creds'), tlsCa: accounts.authority })
    expect(opened.pageErrors).toEqual([])
  })
})
