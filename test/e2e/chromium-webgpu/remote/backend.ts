import type { Page } from 'playwright-core'
import { CaseError, type Backend } from '@core/backend'
import type { RemoteCall, RemoteReply } from './calls'

/** The WebGPU backend of a page, driven from the test: the conformance harness sees an ordinary backend. */
export function remoteBackend(page: Page): Backend {
  const call = async (request: RemoteCall): Promise<RemoteReply> => {
    const reply = await page.evaluate((sent) => window.remoteCall?.(sent), request)
    if (!reply) throw new Error('the page has no backend')
    if (reply.error) throw new CaseError(reply.error.code, reply.error.message, reply.error.detail)
    return reply
  }
  const part = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('the page left a field out of its reply')
    return value
  }
  return {
    id: 'webgpu',
    devices: async () => part((await call({ do: 'devices' })).devices),
    async open(problem) {
      const opened = await call({ do: 'open', problem })
      const id = part(opened.id)
      const memory = part(opened.memory)
      return {
        timer: part(opened.timer),
        tickNs: part(opened.tickNs),
        notes: part(opened.notes),
        memory: () => memory,
        refill: async (seed) => void (await call({ do: 'refill', id, seed })),
        poison: async () => void (await call({ do: 'poison', id })),
        run: async () => void (await call({ do: 'run', id })),
        scan: async () => part((await call({ do: 'scan', id })).scans),
        async read(output, start, count) {
          const { base64, whole } = await call({ do: 'read', id, output, start, count })
          const { buffer } = new Uint8Array(Buffer.from(part(base64), 'base64'))
          return whole ? new Int32Array(buffer) : new Float32Array(buffer)
        },
        async sample(request) {
          const { samplesNs, inner } = await call({ do: 'sample', id, request })
          return { samplesNs: Float64Array.from(part(samplesNs)), inner: part(inner), state: {} }
        },
        dispose: async () => void (await call({ do: 'dispose', id })),
      }
    },
  }
}
