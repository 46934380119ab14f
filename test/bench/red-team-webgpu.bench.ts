import { ENGINES } from '../e2e/chromium-webgpu/engines'
import { servePage } from '../e2e/chromium-webgpu/page'
import { remoteBackend } from '../e2e/chromium-webgpu/remote/backend'
import type { Bench } from './bench'
import { redTeam } from './red-team.bench'

/** The red team (red-team.bench.ts) on WebGPU in a page of Chromium, on its software adapter where there is no GPU: most=2000000 (outputs) seconds=2 trials=50. */
const bench: Bench = async (context) => {
  const engine = ENGINES[0]!
  if ('missing' in engine) throw new Error(engine.missing)
  const served = await servePage('test/e2e/chromium-webgpu/remote/index.html')
  const { page, close } = await engine.open()
  try {
    await page.goto(served.url)
    await page.waitForFunction(() => window.remoteCall !== undefined)
    return await redTeam({ ...context, args: { most: '2000000', seconds: '2', trials: '50', ...context.args } }, remoteBackend(page, served))
  } finally {
    await close()
    await served.close()
  }
}
export default bench
