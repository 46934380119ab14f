import { createHash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, resolve } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'electron-vite'
import { collectLicences } from './scripts/lib/licences.mjs'

const at = (path: string) => resolve(import.meta.dirname, path)
const alias = { '@core': at('core') }

/** The Python backend's worker is run from its sources, which must be files of their own beside the bundle. */
const copyPythonWorker = {
  name: 'opscope:python-worker',
  closeBundle: () => cpSync(at('main/backends/python/worker'), at('out/main/python'), { recursive: true, filter: (path) => extname(path) === '.py' || (extname(path) === '' && !path.endsWith('__pycache__')) }),
}

/** One for all three bundles: their licences stand on one page. Electron and the SQLite binding are shipped beside them. */
const licences = collectLicences({ file: at('out/renderer/licences.json'), also: ['electron', '@photostructure/sqlite', '@fontsource-variable/inter', '@fontsource-variable/jetbrains-mono', 'tailwindcss'], root: at('.') })

/** Sources that decide what is measured: kernels, timers, statistics and the operations themselves. */
const MEASURING = ['core/measure', 'core/ops', 'core/stats', 'native/cpu', 'native/cuda', 'native/guest', 'renderer/webgpu', 'main/backends']

/** A short hash of these sources, which goes with every session: only results of the same code may join. */
function codeHash(): string {
  const hash = createHash('sha256')
  for (const folder of MEASURING) {
    const files = readdirSync(at(folder), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && !/\.(test\.ts|md|pyc)$/.test(entry.name))
    for (const path of files.map((entry) => join(entry.parentPath, entry.name)).sort()) hash.update(readFileSync(path))
  }
  return hash.digest('hex').slice(0, 12)
}

/** Main and preload run in the oldest supported runtime (Electron 33: Node 20, Chromium 130). */
export default defineConfig({
  main: {
    resolve: { alias },
    define: { __OPSCOPE_CODE__: JSON.stringify(codeHash()) },
    plugins: [copyPythonWorker, licences],
    build: {
      outDir: 'out/main',
      target: 'node20',
      rolldownOptions: {
        input: {
          index: at('main/index.ts'),
          cli: at('main/cli/index.ts'),
          worker: at('main/measurement/worker.ts'),
          verify: at('main/measurement/verify-thread.ts'),
          'gpu-watch': at('main/backends/webgpu/watch/program.ts'),
          files: at('main/files/worker.ts'),
          maintenance: at('main/maintenance/worker.ts'),
        },
        external: ['electron', '@photostructure/sqlite', /\.node$/],
      },
    },
  },
  preload: {
    resolve: { alias },
    plugins: [licences],
    build: {
      outDir: 'out/preload',
      target: 'node20',
      rolldownOptions: {
        input: { index: at('preload/index.ts'), webgpu: at('preload/webgpu.ts') },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    root: at('renderer'),
    resolve: { alias },
    plugins: [vue(), tailwindcss(), licences],
    build: {
      outDir: at('out/renderer'),
      target: 'chrome130',
      minify: true,
      // The policy of the pages takes files of our own only, no data: fonts.
      assetsInlineLimit: 0,
      rolldownOptions: { input: { index: at('renderer/index.html'), webgpu: at('renderer/webgpu/index.html') } },
    },
  },
})
