import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const alias = { '@core': resolve(import.meta.dirname, 'core') }
const plugins = [vue()]
/** What tests that start the app share: time limits, and a display of their own for each file. */
const throughTheApp = { testTimeout: 120_000, hookTimeout: 120_000, setupFiles: ['test/own-display.ts'] }

/** Files of servers and of the app wait for half of their time or more: while one does, every core has another. */
const BESIDE_WAITING = availableParallelism() + 1

/** The longest files, longest first: started last, one of them would run alone at the end. */
const LONGEST = [
  'core/formats/testing/formats', 'core/stats/serial', 'main/backends/fake/proofs', 'main/backends/python/backend', 'main/cli/command-lines', 'core/stats/coverage',
  'test/servers/slurm', 'test/conformance/neon', 'test/conformance/webgpu.', 'test/conformance/webgpu-electron', 'test/servers/fleet.', 'test/conformance/cpu.', 'test/conformance/webgpu',
  'test/e2e/app-tour', 'test/e2e/cli.', 'test/e2e/app-charts', 'test/e2e/app-suites',
]

/** Starts the longest files of each group first, and the others in vitest's order. Projects whose files share a process follow each other: a process has the files of one. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => (LONGEST.findIndex((part) => moduleId.includes(part)) + 1 || LONGEST.length + 1)
    const sorted = await super.sort(files)
    const batch = ({ project: { name, config } }: TestSpecification) => `${config.sequence.groupOrder}${config.isolate ? '' : name}`
    const batches = [...new Set(sorted.map(batch))]
    return sorted.toSorted((a, b) => batches.indexOf(batch(a)) - batches.indexOf(batch(b)) || rank(a) - rank(b))
  }
}

/**
 * unit: pure logic, main under plain Node. component: Vue in happy-dom. Both use every core, and files share a process: a
 * test puts back what it changes.
 * conformance: every op x implementation against its reference. servers: runs on real ssh, NATS and Slurm servers, which mostly wait
 * for time limits; so their files run beside those of conformance.
 * e2e: the command line, and the built app in real Electron and Chromium. On a machine whose cores others use, a window may take
 * longer than a step allows: a test that fails is tried once more, and npm test lists what passed only then.
 */
export default defineConfig({
  resolve: { alias },
  plugins,
  test: {
    sequence: { sequencer: LongestFirst },
    // A loaded machine may hold a process back for longer than vitest's own second.
    expect: { poll: { timeout: 40_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          maxWorkers: '100%',
          isolate: false,
          testTimeout: 120_000,
          include: ['core/**/*.test.ts', 'main/**/*.test.ts', 'preload/**/*.test.ts', 'scripts/**/*.test.ts', 'test/*.test.ts', 'renderer/{charts,stores,commands,lib,styles,webgpu}/**/*.test.ts'],
        },
      },
      { extends: true, test: { name: 'component', environment: 'happy-dom', maxWorkers: '100%', isolate: false, testTimeout: 120_000, include: ['renderer/{components,views}/**/*.test.ts'] } },
      { extends: true, test: { name: 'conformance', include: ['test/conformance/**/*.test.ts'], setupFiles: ['test/own-display.ts'], testTimeout: 300_000, hookTimeout: 120_000, maxWorkers: BESIDE_WAITING, sequence: { groupOrder: 1 } } },
      { extends: true, test: { name: 'servers', include: ['test/servers/**/*.test.ts'], ...throughTheApp, maxWorkers: BESIDE_WAITING, sequence: { groupOrder: 1 } } },
      { extends: true, test: { name: 'e2e', include: ['test/e2e/**/*.test.ts', 'test/security/**/*.test.ts'], ...throughTheApp, retry: 1, maxWorkers: BESIDE_WAITING, sequence: { groupOrder: 2 } } },
    ],
  },
})
