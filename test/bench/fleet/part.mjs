/** One part of the fleet bench in a process of its own: `part.mjs NAME`, with NAME.ts beside it loaded through Vite. */
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'

const folder = dirname(fileURLToPath(import.meta.url))
const root = resolve(folder, '../../..')
const { module } = await runnerImport(join(folder, `${process.argv[2]}.ts`), { root, configFile: false, logLevel: 'error', resolve: { alias: { '@core': join(root, 'core') } } })
await module.default(JSON.parse(process.argv[3]))
process.exit(0)
