import { cpSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'electron-vite'

const at = (path: string) => resolve(import.meta.dirname, path)
const alias = { '@core': at('core') }

/** The Python backend's worker is run from its sources, which must be files of their own beside the bundle. */
const copyPythonWorker = {
  name: 'opscope:python-worker',
  closeBundle: () => cpSync(at('main/backends/python/worker'), at('out/main/python'), { recursive: true, filter: (path) => extname(path) === '.py' || (extname(path) === '' && !path.endsWith('__pycache__')) }),
}

/** Main and preload run in the oldest supported runtime (Electron 33: Node 20, Chromium 130). */
export default defineConfig({
  main: {
    resolve: { alias },
    plugins: [copyPythonWorker],
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
    plugins: [vue(), tailwindcss()],
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
