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
        countUnwritten: async () => part((await call({ do: 'count', id })).count),
        async read(start, count) {
          const bytes = Buffer.from(part((await call({ do: 'read', id, start, count })).base64), 'base64')
          return new Float32Array(new Uint8Array(bytes).buffer)
        },
        sample: async (request) => ({ samplesNs: Float64Array.from(part((await call({ do: 'sample', id, request })).samplesNs)), state: {} }),
        dispose: async () => void (await call({ do: 'dispose', id })),
      }
    },
  }
}
