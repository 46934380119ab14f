/**
 * npm run bench:bundle: the benches of test/bench/bundled.ts as out/bench/bench.mjs, for machines that have Node but no
 * node_modules. There: node out/bench/bench.mjs [name...] [key=value...], as scripts/bench.mjs has it.
 */
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
})
