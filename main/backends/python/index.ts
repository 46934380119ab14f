import { readdirSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Backend, Device } from '@core/backend'
import { pythonSettingsSchema, type PythonSettings } from '@core/settings'
import { dataFolder, homeFolder } from '../../paths'
import { nativeBackends, openEnergyMeter } from '../native'
import { PythonBackend, WorkerPool } from './backend'
import { describe } from './describe'
import { PYTHON_SWITCHES, pythonEnvironment, locateGuest, locateWorker } from './launch'
import { Catalogue, ProbeCache } from './interpreters'
import type { Patience } from './worker-process'

/** Imports and compilers may take minutes, but say every two seconds that they are at it. */
const OPENING: Patience = { totalMs: 180_000, silenceMs: 30_000 }

const NOTHING_NAMED: PythonSettings = { extra: [] }

/** What the user has set, from OPSCOPE_PYTHON; see host.ts in main/measurement. */
function settingsFrom(text: string | undefined): PythonSettings {
  if (!text) return NOTHING_NAMED
  return pythonSettingsSchema.parse(JSON.parse(text))
}

/** Devices of the native backends, whose part that cannot be had stands as an unavailable device. */
async function hardware(backends: readonly Backend[]): Promise<Device[]> {
  return (await Promise.all(backends.map((backend) => backend.devices()))).flat()
}

/** The Python backend of this process. */
export function pythonBackend(env: NodeJS.ProcessEnv = process.env): Backend {
  const native = nativeBackends()
  const worker = locateWorker(import.meta.dirname)
  const guest = locateGuest(import.meta.dirname, env)
  const problem =
    native.problem ??
    (guest === undefined ? 'the native part is not built: run npm run setup (it needs CMake, Ninja and a C++20 compiler)' : undefined) ??
    (worker === undefined ? 'a part of the program is not built: worker.py is missing; npm run build makes it' : undefined)
  const settings = settingsFrom(env['OPSCOPE_PYTHON'])
  const only = env['OPSCOPE_PYTHON_ONLY']?.split(delimiter).filter((path) => path !== '')
  const run = (program: string, script: string) => ({ program, args: [...PYTHON_SWITCHES, join(worker ?? '', script)], env: pythonEnvironment(env) })

  const pool = new WorkerPool({ command: ({ python }) => run(python, 'worker.py'), guest: guest ?? '', patience: OPENING })
  const catalogue = new Catalogue({
    surroundings: { env, home: homeFolder(), cwd: process.cwd(), platform: process.platform, named: [...(settings.chosen ?? []), ...settings.extra] },
    only,
    command: (path) => run(path, 'probe.py'),
    cache: new ProbeCache(join(dataFolder(), 'pythons.json')),
    conditions: async () => [...probeParts(worker), ...(await hardware(native.backends)).map(({ id, name, driver, available }) => (available.ok ? `${id} ${name} ${driver ?? ''}` : '')), env['CUDA_VISIBLE_DEVICES'] ?? ''].join('|'),
  })
  return new PythonBackend({
    offers: async () => {
      // Without the probe there is nothing to ask them with.
      const found = worker === undefined ? [] : await catalogue.list()
      return describe({ found, chosen: settings.chosen, hardware: await hardware(native.backends), problem, said: pool.said })
    },
    pool,
    patience: OPENING,
    energyMeter: ({ hardware: on, ordinal }) => openEnergyMeter(on === 'cuda' ? { cuda: ordinal } : { cpu: true }, on === 'cuda'),
  })
}

/** When the newest part of the probe was written: another version may say more. */
const probeParts = (worker: string | undefined): number[] => (worker === undefined ? [] : [readdirSync(worker, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.py')).reduce((newest, name) => Math.max(newest, statSync(join(worker, name)).mtimeMs), 0)])
