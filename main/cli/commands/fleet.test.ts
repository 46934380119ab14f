import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { runCli } from '../run-cli'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-fleet-'))
  vi.stubEnv('OPSCOPE_DATA_DIR', folder)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

async function opscope(...args: string[]) {
  let text = ''
  const write = (part: string) => (text += part)
  const status = await runCli(args, { out: { write }, err: { write }, env: process.env }, { onStop: () => undefined })
  return { status, text }
}

describe('opscope fleet run', () => {
  it('refuses interleaved rounds before it asks any server', async () => {
    const { status, text } = await opscope('fleet', 'run', '--ops', 'add', '--rounds', 'on')
    expect(status).toBe(2)
    expect(text).toMatch(/^opscope: --rounds on: each case of a fleet is work of its own/m)
  })

  it('says how a server is named when none is known', async () => {
    const { status, text } = await opscope('fleet', 'run', '--ops', 'add')
    expect(status).toBe(2)
    expect(text).toContain('name one with --server tls://host:4222')
  })
})
