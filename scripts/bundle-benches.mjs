/**
 * npm run bench:bundle: the benches of test/bench/bundled.ts as out/bench/bench.mjs, for machines that have Node but no
 * node_modules. There: node out/bench/bench.mjs [name...] [key=value...], as scripts/bench.mjs has it.
 */
import { cpSync } from 'node:fs'
import { build } from 'vite'
import { at } from './lib/paths.mjs'
import { main } from './lib/steps.mjs'

await main(async () => {
  await build({
    root: at(),
    configFile: false,
    logLevel: 'error',
    resolve: { alias: { '@core': at('core') } },
    ssr: { noExternal: true },
    build: {
      ssr: at('test', 'bench', 'bundled.ts'),
      outDir: at('out', 'bench'),
      emptyOutDir: true,
      target: 'node20',
      rolldownOptions: { external: ['electron', '@photostructure/sqlite', /\.node$/], output: { entryFileNames: 'bench.mjs', codeSplitting: false } },
    },
  })
  // What the Python backend runs, where it looks for it beside the bundle.
  cpSync(at('main', 'backends', 'python', 'worker'), at('out', 'bench', 'worker'), { recursive: true, filter: (path) => !/\.test\.ts$|__pycache__/.test(path) })
})
