import { resolve } from 'node:path'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vitest/config'

const alias = { '@core': resolve(import.meta.dirname, 'core') }
const plugins = [vue()]

/**
 * unit: pure logic, main under plain Node. component: Vue in happy-dom. Both use every core, and files share a process: a
 * test puts back what it changes.
 * conformance: every op x implementation against its reference. e2e: the built app in real Electron and Chromium. Both use
 * every core by themselves, so their files run one after the other.
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
      { extends: true, test: { name: 'conformance', include: ['test/conformance/**/*.test.ts'], testTimeout: 300_000, fileParallelism: false } },
      {
        extends: true,
        test: { name: 'e2e', include: ['test/e2e/**/*.test.ts', 'test/security/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 15_000 } }, fileParallelism: false },
      },
    ],
  },
})
