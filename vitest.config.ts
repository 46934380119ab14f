import { resolve } from 'node:path'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vitest/config'

const alias = { '@core': resolve(import.meta.dirname, 'core') }
const plugins = [vue()]
/** Time limits of tests that start the app. */
const throughTheApp = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 15_000 } } }

/**
 * unit: pure logic, main under plain Node. component: Vue in happy-dom. Both use every core, and files share a process: a
 * test puts back what it changes.
 * conformance: every op x implementation against its reference. servers: runs on real ssh, NATS and Slurm servers, which mostly wait
 * for time limits; so their files run beside those of conformance.
 * e2e: the built app in real Electron and Chromium, one file after the other, because a window needs every core.
 */
export default defineConfig({
  resolve: { alias },
  plugins,
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          maxWorkers: '100%',
          isolate: false,
          testTimeout: 30_000,
          include: ['core/**/*.test.ts', 'main/**/*.test.ts', 'preload/**/*.test.ts', 'scripts/**/*.test.ts', 'test/*.test.ts', 'renderer/{charts,stores,commands,lib,webgpu}/**/*.test.ts'],
        },
      },
      { extends: true, test: { name: 'component', environment: 'happy-dom', maxWorkers: '100%', isolate: false, testTimeout: 30_000, include: ['renderer/{components,views}/**/*.test.ts'] } },
      { extends: true, test: { name: 'conformance', include: ['test/conformance/**/*.test.ts'], testTimeout: 300_000, hookTimeout: 120_000, maxWorkers: '100%', sequence: { groupOrder: 1 } } },
      { extends: true, test: { name: 'servers', include: ['test/servers/**/*.test.ts'], ...throughTheApp, maxWorkers: '100%', sequence: { groupOrder: 1 } } },
      { extends: true, test: { name: 'e2e', include: ['test/e2e/**/*.test.ts', 'test/security/**/*.test.ts'], ...throughTheApp, fileParallelism: false, sequence: { groupOrder: 2 } } },
    ],
  },
})
