import type { Page } from 'playwright-core'
import { CaseError, problemOutputs, type Backend } from '@core/backend'
import type { Values } from '@core/values/numbers'
import type { ServedPage } from '../page'
import type { RemoteCall, RemoteReply } from './calls'

/** Elements of an output up to which it is read as a whole. */
const MOST_KEPT = 2 ** 23

/** The WebGPU backend of a page, driven from the test: the conformance harness sees an ordinary backend. `served`: where the page posts what is read. */
export function remoteBackend(page: Page, served: Pick<ServedPage, 'taken'>): Backend {
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
      const outputs = problemOutputs(problem)
      /** Whole outputs since the last call that changed them: a way to the page and back takes longer than their bytes. */
      const known = new Map<number, Promise<Values>>()
      const fetched = async (output: number, start: number, count: number): Promise<Values> => {
        const { posted, whole } = await call({ do: 'read', id, output, start, count })
        const { buffer, byteOffset, byteLength } = served.taken(part(posted))
        return new (whole ? Int32Array : Float32Array)(buffer.slice(byteOffset, byteOffset + byteLength))
      }
      const read = async (output: number, start: number, count: number): Promise<Values> => {
        const { elements } = outputs[output]!
        if (elements > MOST_KEPT) return fetched(output, start, count)
        const whole = known.get(output) ?? fetched(output, 0, elements)
        known.set(output, whole)
        return (await whole).slice(start, start + count)
      }
      const changing = async (request: RemoteCall) => {
        known.clear()
        return call(request)
      }
      return {
        timer: part(opened.timer),
        tickNs: part(opened.tickNs),
        notes: part(opened.notes),
        memory: () => memory,
        refill: async (seed) => void (await changing({ do: 'refill', id, seed })),
        poison: async () => void (await changing({ do: 'poison', id })),
        run: async () => void (await changing({ do: 'run', id })),
        scan: async () => part((await call({ do: 'scan', id })).scans),
        read,
        async sample(request) {
          const { samplesNs, inner } = await changing({ do: 'sample', id, request })
          return { samplesNs: Float64Array.from(part(samplesNs)), inner: part(inner), state: {} }
        },
        dispose: async () => void (await call({ do: 'dispose', id })),
      }
    },
  }
}
