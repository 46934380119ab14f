import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { FuseState, FuseV1Options, getCurrentFuseWire } from '@electron/fuses'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sandboxSwitches } from '../../scripts/lib/display.mjs'
import { electronBinary } from '../../scripts/lib/electron.mjs'
import { packApp } from '../../scripts/lib/packager.mjs'

const folder = mkdtempSync(join(tmpdir(), 'opscope-packaged-'))
let program: string
beforeAll(async () => {
  const electron = electronBinary()
  if ('reason' in electron) throw new Error(electron.reason)
  program = await packApp(electron.path, { test: false, installer: false, output: join(folder, 'dist') })
})
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }))

/** Starts the release to its end; one that does not refuse would show a window and stay. */
function start(args: readonly string[], env: Record<string, string> = {}) {
  return spawnSync(program, [...sandboxSwitches(), ...args], { env: { ...process.env, OPSCOPE_DATA_DIR: join(folder, 'data'), OPSCOPE_WEBGPU: 'software', ...env }, encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' })
}

/** Rule 9. */
describe.runIf(process.platform === 'linux')('the release build', () => {
  it('has its fuses set', async () => {
    const wire = await getCurrentFuseWire(program)
    const { RunAsNode, EnableNodeOptionsEnvironmentVariable, EnableNodeCliInspectArguments, GrantFileProtocolExtraPrivileges, OnlyLoadAppFromAsar, EnableEmbeddedAsarIntegrityValidation } = FuseV1Options
    for (const off of [RunAsNode, EnableNodeOptionsEnvironmentVariable, EnableNodeCliInspectArguments, GrantFileProtocolExtraPrivileges]) expect(wire[off], FuseV1Options[off]).toBe(FuseState.DISABLE)
    for (const on of [OnlyLoadAppFromAsar, EnableEmbeddedAsarIntegrityValidation]) expect(wire[on], FuseV1Options[on]).toBe(FuseState.ENABLE)
  })

  it.each(['--remote-debugging-port=0', '--remote-debugging-pipe'])('refuses %s', (flag) => {
    const { status, stderr } = start([flag])
    expect(status).toBe(2)
    expect(stderr).toContain('is refused')
    expect(stderr).not.toContain('DevTools listening')
    expect(existsSync(join(folder, 'data'))).toBe(false)
  })

  it('is no plain Node', () => {
    // With the fuse on, this would print and end with 7; the app instead refuses the switch that follows.
    const { status, stdout } = start(['-e', 'console.log("ran"); process.exit(7)', '--remote-debugging-port=0'], { ELECTRON_RUN_AS_NODE: '1' })
    expect(stdout).not.toContain('ran')
    expect(status).toBe(2)
  })

  it('carries what must be a real file beside the archive, and no app but its own', () => {
    const resources = join(dirname(program), 'resources')
    expect(readdirSync(resources).filter((name) => name.endsWith('.asar'))).toEqual(['app.asar'])
    expect(readdirSync(join(resources, 'app.asar.unpacked', 'native', 'build'))).toContain('opscope.node')
    expect(existsSync(join(resources, 'app.asar.unpacked', 'out', 'main', 'python', 'worker.py'))).toBe(true)
  })
})
