import type { Backend, PreparedCase } from '@core/backend'
import { createRandom } from '@core/stats/random'

/** Samples take up to this share longer. */
const SPREAD = 0.5

/**
 * A processor's backend as on a noisy host, for tests under OPSCOPE_TEST_BACKEND=1: kernels, outputs and times are real, but its device says
 * that tasks wait, and each sample takes longer by a random share. What tests find of noise is then no luck.
 */
export function onNoisyHost(backend: Backend): Backend {
  const random = createRandom(1)
  const lengthened = (ns: number) => ns * (1 + SPREAD * random())
  return {
    id: backend.id,
    devices: async () => (await backend.devices()).map((device) => ({ ...device, disturbances: ['CPU contention: tasks waited for 40 % of the last 10 s.'] })),
    async open(problem, alive, beside): Promise<PreparedCase> {
      // The case itself, not one around it: others are opened on its memory.
      const prepared = await backend.open(problem, alive, beside)
      const sample = prepared.sample.bind(prepared)
      return Object.assign(prepared, {
        async sample(request: Parameters<typeof sample>[0]) {
          const batch = await sample(request)
          return { ...batch, samplesNs: batch.samplesNs.map(lengthened) }
        },
      })
    },
  }
}
