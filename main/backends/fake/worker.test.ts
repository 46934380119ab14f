import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { build } from 'vite'
import { fromHostSchema, type FromHost, type ToHost } from '@core/measure/protocol'
import { PRESETS } from '@core/measure/settings'
import { forkNodeProcess } from '../../measurement/child-process'

/** The measurement process as the app ships it, with and without the switch for the scripted backend. */
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-worker-'))
  const root = resolve(import.meta.dirname, '../../..')
  await build({
    root, configFile: false, logLevel: 'error', resolve: { alias: { '@core': join(root, 'core') } }, ssr: { noExternal: true },
    build: { ssr: join(root, 'main/measurement/worker.ts'), outDir: folder, target: 'node20', rolldownOptions: { external: ['electron', /\.node$/], output: { entryFileNames: '[name].mjs' } } },
  })
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true }))

/** Starts the worker, sends one message and resolves with the first answer that is not progress, or how the process ended. */
function ask(message: ToHost, env: NodeJS.ProcessEnv): Promise<FromHost | { exit: string }> {
  const process_ = forkNodeProcess(join(folder, 'worker.mjs'), { ...process.env, OPSCOPE_TEST_BACKEND: undefined, ...env })
  return new Promise((resolve) => {
    process_.onMessage((raw) => {
      const answer = fromHostSchema.parse(raw)
      if (answer.type === 'ready') process_.post(message)
      else if (answer.type !== 'progress') {
        resolve(answer)
        process_.kill()
      }
    })
    process_.onExit((exit) => resolve({ exit }))
  })
}

const backendsIn = async (env: NodeJS.ProcessEnv) => {
  const answer = await ask({ type: 'devices', id: 1 }, env)
  return 'devices' in answer ? answer.devices.map((device) => device.backend) : answer
}
const measure = (impl: string, env: NodeJS.ProcessEnv) =>
  ask({ type: 'measure', id: 1, case: { op: 'add', params: { n: 64 }, dtype: 'f32', backend: 'fake', impl, device: 'fake:0', mode: 'hot' }, settings: PRESETS.quick, resultId: 'r' }, env)

test('without the switch there is no scripted device, and its cases are refused', async () => {
  for (const env of [{}, { OPSCOPE_TEST_BACKEND: '' }, { OPSCOPE_TEST_BACKEND: '0' }, { OPSCOPE_TEST_BACKEND: 'true' }]) expect(await backendsIn(env)).not.toContain('fake')
  expect(await measure('steady', {})).toMatchObject({ type: 'result', result: { status: 'failed', message: expect.stringMatching(/not "fake"/) } })
})

test('with it, cases run in the process and can end it', async () => {
  const env = { OPSCOPE_TEST_BACKEND: '1' }
  expect(await backendsIn(env)).toContain('fake')
  expect(await measure('steady', env)).toMatchObject({ type: 'result', result: { status: 'ok', timer: 'scripted' } })
  expect(await measure('oom', env)).toMatchObject({ type: 'result', result: { status: 'failed', message: expect.stringMatching(/^The device has 1 GiB free; 8 GiB are needed\. .*Try 1\/2 of the elements/) } })
  expect(await measure('unsupported', env)).toMatchObject({ type: 'result', result: { status: 'skipped' } })
  expect(await measure('exit', env)).toEqual({ exit: expect.stringMatching(/3/) })
  expect(await measure('crash', env)).toEqual({ exit: expect.stringMatching(/SIGSEGV/) })
})
