import { join, resolve } from 'node:path'
import { benchWords, runBench } from '../../scripts/lib/bench-run.mjs'
import blocks from './blocks.bench'
import coverage from './coverage.bench'
import cpuPeers from './cpu-peers.bench'
import cpuScaling from './cpu-scaling.bench'
import energy from './energy.bench'
import kernels from './kernels.bench'
import metamorphic from './metamorphic.bench'
import noisyHost from './noisy-host.bench'
import rates from './rates.bench'
import redTeam from './red-team.bench'
import sanitize from './sanitize.bench'
import selfConsistency from './self-consistency.bench'
import shapeFuzz from './shape-fuzz.bench'
import timeToResult from './time-to-result.bench'
import torchDraw from './torch-draw.bench'
import truthLadder from './truth-ladder.bench'
import verifyCost from './verify-cost.bench'
import webgpuVsCuda from './webgpu-vs-cuda.bench'

/** Entry of out/bench/bench.mjs: the benches that make sense on a machine with nothing but Node, the addon and the built app. */
const BENCHES = { blocks, energy, 'truth-ladder': truthLadder, 'self-consistency': selfConsistency, coverage, 'cpu-peers': cpuPeers, 'cpu-scaling': cpuScaling, kernels, metamorphic, 'noisy-host': noisyHost, 'time-to-result': timeToResult, rates, 'red-team': redTeam, sanitize, 'shape-fuzz': shapeFuzz, 'torch-draw': torchDraw, 'verify-cost': verifyCost, 'webgpu-vs-cuda': webgpuVsCuda }

const root = resolve(import.meta.dirname, '../..')
const { names, args } = benchWords(process.argv.slice(2), Object.keys(BENCHES))
for (const name of names as (keyof typeof BENCHES)[]) {
  await runBench({ name, bench: BENCHES[name], args, root, results: resolve(args['results'] ?? join(root, 'test', 'bench', 'results')) })
}
process.exit(0)
