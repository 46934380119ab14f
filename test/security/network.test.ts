import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { launch, SOFTWARE_GPU } from '../e2e/launch'
import { view } from '../e2e/ui'

/** Events of Chromium's network log that name an address it turned to, with the parameter that has it. */
const ADDRESSES: Readonly<Record<string, string>> = { HOST_RESOLVER_MANAGER_REQUEST: 'host', TCP_CONNECT_ATTEMPT: 'address', URL_REQUEST_START_JOB: 'url' }
/** Looked up by the test, to see that the log has such things. */
const CONTROL = 'control.invalid'

interface NetLog {
  constants: { logEventTypes: Record<string, number> }
  events: { type: number; params?: Record<string, unknown> }[]
}

/** Addresses that Chromium looked up, connected to or requested, each once. Pages of the app's own scheme are not among them. */
function contacted(path: string): string[] {
  const { constants, events } = JSON.parse(readFileSync(path, 'utf8')) as NetLog
  const names = new Map(Object.entries(constants.logEventTypes).map(([name, id]) => [id, name]))
  return [...new Set(events.flatMap(({ type, params }) => {
    const address = params?.[ADDRESSES[names.get(type) ?? ''] ?? '']
    return typeof address === 'string' ? [address] : []
  }))]
}

it('the app contacts nobody: not at its start, for updates or otherwise, nor when its views are opened', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'opscope-network-'))
  const log = join(folder, 'net.json')
  const opened = await launch({ dataDir: join(folder, 'data'), args: [`--log-net-log=${log}`], env: SOFTWARE_GPU })
  try {
    for (const name of ['Run', 'Compare', 'History', 'Devices', 'Guide', 'Settings']) await view(opened.page, name)
    await opened.page.getByText('Opscope does not check for updates').waitFor()
    // Sockets of main itself, opened since its start and before its first line.
    const connections = () => opened.app.evaluate(() => Reflect.get(globalThis, 'connections') as string[])
    expect(await connections()).toEqual([])
    await opened.app.evaluate(async ({ session }, host) => {
      process.getBuiltinModule('node:net').connect(9, host).on('error', () => undefined)
      await session.defaultSession.resolveHost(host).catch(() => undefined)
    }, CONTROL)
    await expect.poll(connections).toEqual([CONTROL])
  } finally {
    await opened.close()
  }
  expect(contacted(log)).toEqual([expect.stringContaining(CONTROL)])
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})
