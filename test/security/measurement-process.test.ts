import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EventPayload } from '@core/ipc'
import type { SweepSpec } from '@core/session/sweep-spec'
import { launch, type Launched } from '../e2e/launch'

let opened: Launched
beforeAll(async () => {
  opened = await launch({ env: { OPSCOPE_TEST_BACKEND: '1', OPSCOPE_TEST_SILENCE_MS: '2000' } })
})
afterAll(() => opened.close())

/** Runs `add` once with each of these implementations of the scripted backend and returns what became of them. */
async function measure(impls: string[]): Promise<{ ended: EventPayload<'run:ended'>; results: { impl: string; status: string; message: string | undefined }[] }> {
  const spec: SweepSpec = {
    ops: [{ op: 'add' }], sizes: { vector: '64', matrix: '64', gemm: '64' }, dtypes: ['f32'], modes: ['hot'], preset: 'quick',
    targets: [{ backend: 'fake', device: 'fake:0', impls }],
  }
  return opened.page.evaluate(async (picked) => {
    const api = window.opscope!
    const over = new Promise<EventPayload<'run:ended'>>((resolve) => api.on('run:ended', resolve))
    const started = await api.invoke('run:start', { spec: picked })
    if (!started.ok) throw new Error(started.error.message)
    const ended = await over
    const rows = await api.invoke('sessions:rows', { id: ended.sessionId, first: 0, count: 100 })
    if (!rows.ok) throw new Error(rows.error.message)
    const results = []
    for (const resultId of JSON.parse(rows.value.ids) as string[]) {
      const reply = await api.invoke('sessions:result', { resultId })
      if (!reply.ok) throw new Error(reply.error.message)
      results.push({ impl: reply.value.case.impl, status: reply.value.status, message: reply.value.message })
    }
    return { ended, results }
  }, spec)
}

/** Rule 7: native code cannot take the app with it. */
describe('the measurement process', () => {
  it('may crash, exit or hang: the case is marked, the rest is measured, the window lives', async () => {
    const pid = opened.app.process().pid
    const { ended, results } = await measure(['crash', 'steady', 'exit', 'hang', 'oom'])
    expect(ended.state).toBe('done')
    expect(results.map(({ impl, status }) => [impl, status])).toEqual([['crash', 'crashed'], ['steady', 'ok'], ['exit', 'crashed'], ['hang', 'timeout'], ['oom', 'failed']])
    expect(results[0]!.message).toMatch(/killed by SIGSEGV/)
    expect(results[2]!.message).toMatch(/exited with status 3/)
    expect(opened.app.process().pid).toBe(pid)
    expect(await opened.page.evaluate(() => document.readyState)).toBe('complete')
    expect(opened.pageErrors).toEqual([])
  })

  it('is not the process of the window, and goes when the app goes', async () => {
    const worker = await opened.app.evaluate(({ app }) => app.getAppMetrics().map(({ pid, type, name }) => ({ pid, type, name })).find(({ name }) => name === 'Opscope measurement'))
    expect(worker).toMatchObject({ type: 'Utility' })
    expect(worker!.pid).not.toBe(opened.app.process().pid)
    await opened.kill()
    await expect.poll(() => isAlive(worker!.pid)).toBe(false)
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
