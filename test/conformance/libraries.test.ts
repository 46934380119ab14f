import { execFileSync } from 'node:child_process'
import { problemOf, type Device } from '@core/backend'
import { getOp } from '@core/ops/registry'
import { describe, expect, it } from 'vitest'
import { locateAddon } from '../../main/backends/native/addon'
import { nativeBackends } from '../../main/backends/native'

/** What the CPU backend opens at run time: libraries of others, and hardware counters. The results of libraries are checked with all others in cpu.test.ts, where they are installed. */

/** Implementations as a process with these variables lists them, from the addon itself. */
function implsWith(env: Record<string, string>): { id: string; title: string; available: { ok: boolean; reason?: string } }[] {
  const script = 'console.log(JSON.stringify(require(process.argv[1]).devices("cpu")[0].impls))'
  return JSON.parse(execFileSync(process.execPath, ['-e', script, locateAddon(import.meta.dirname) ?? ''], { env: { ...process.env, ...env }, encoding: 'utf8' })) as Device['impls']
}

describe('libraries of others', () => {
  it('are listed with the command that installs them where they are absent', () => {
    const impls = implsWith({ OPSCOPE_OPENBLAS: '/nowhere/libopenblas.so', OPSCOPE_ONEDNN: '/nowhere/libdnnl.so' })
    expect(impls.find(({ id }) => id === 'openblas')!.available).toEqual({ ok: false, reason: expect.stringMatching(/^OpenBLAS is not installed;.*apt install libopenblas0-pthread$/) })
    expect(impls.find(({ id }) => id === 'onednn')!.available).toEqual({ ok: false, reason: expect.stringMatching(/^oneDNN is not installed;.*apt install libdnnl3/) })
  })

  it('that are there but are something else are refused with a reason', () => {
    const impls = implsWith({ OPSCOPE_OPENBLAS: 'libm.so.6', OPSCOPE_ONEDNN: 'libm.so.6' })
    for (const id of ['openblas', 'onednn']) expect(impls.find((impl) => impl.id === id)!.available).toEqual({ ok: false, reason: expect.stringMatching(/found here .*apt install/) })
  })

  it('have their version in their title, and refuse what they are not asked for', async ({ skip }) => {
    const [cpu] = nativeBackends().backends
    const [device] = await cpu!.devices()
    const present = device!.impls.filter(({ id, available }) => ['openblas', 'onednn'].includes(id) && available.ok)
    if (present.length === 0) skip('neither OpenBLAS nor oneDNN is installed')
    for (const impl of present) {
      expect(impl.title).toMatch(/^(OpenBLAS \d+\.\d+\S* \(\w+\)|oneDNN \d+\.\d+\S*)$/)
      const c = { op: 'add', params: { n: 8 }, dtype: 'f32', backend: 'cpu', impl: impl.id, device: 'cpu', mode: 'hot', threads: 1 } as const
      await expect(cpu!.open(problemOf(getOp('add'), c, 1))).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining('add') })
    }
  })
})

describe('oneDNN', () => {
  it('normalizes groups from version 3.3 on, and says so before', async ({ skip }) => {
    const [cpu] = nativeBackends().backends
    const [device] = await cpu!.devices()
    const impl = device!.impls.find(({ id }) => id === 'onednn')!
    if (!impl.available.ok) skip('oneDNN is not installed')
    const [major, minor] = /(\d+)\.(\d+)/.exec(impl.title)!.slice(1).map(Number) as [number, number]
    const offered = major > 3 || (major === 3 && minor >= 3)
    expect(impl.kernels['group_norm']).toEqual(offered ? ['f32'] : undefined)
    if (offered) return
    const c = { op: 'group_norm', params: { batch: 1, channels: 4, height: 2, width: 2, groups: 2 }, dtype: 'f32', backend: 'cpu', impl: 'onednn', device: 'cpu', mode: 'hot', threads: 1 } as const
    await expect(cpu!.open(problemOf(getOp('group_norm'), { ...c, params: getOp('group_norm').params.parse(c.params) }, 1))).rejects.toMatchObject({ code: 'unsupported', message: expect.stringMatching(/^oneDNN \d.* has no group_norm; versions from 3\.3 on have$/) })
  })
})

describe('hardware counters', () => {
  it('count a call on one thread, or say why they do not', async () => {
    const [cpu] = nativeBackends().backends
    const [device] = await cpu!.devices()
    for (const threads of [1, 2]) {
      const c = { op: 'exp', params: { n: 10_000 }, dtype: 'f32', backend: 'cpu', impl: device!.impls[0]!.id, device: 'cpu', mode: 'hot', threads } as const
      const prepared = await cpu!.open(problemOf(getOp('exp'), c, 1))
      const counters = await prepared.counters!('hot', 10)
      await prepared.dispose()
      if (threads > 1) expect(counters).toEqual({ reason: 'Hardware counters are read on one thread only.' })
      else if (counters!.reason !== undefined) expect(counters!.reason).toMatch(/^(This machine offers no|Hardware counters|This kernel)/)
      // The scalar kernel has more than ten instructions for an element.
      else expect(counters!.instructions).toBeGreaterThan(100_000)
    }
  })
})
