import { CaseError, type PreparedCase } from '@core/backend'
import { createWebgpuBackend, optionsIn } from '../../../../renderer/webgpu/backend'
import type { RemoteCall, RemoteReply } from './calls'

const backend = createWebgpuBackend(optionsIn(location.search))
const open = new Map<number, PreparedCase>()
let nextCase = 1

const prepared = (id: number) => {
  const found = open.get(id)
  if (!found) throw new Error(`no open case ${id}`)
  return found
}

function toBase64(values: Float32Array | Int32Array): string {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
  let text = ''
  for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768))
  return btoa(text)
}

async function answer(call: RemoteCall): Promise<RemoteReply> {
  switch (call.do) {
    case 'devices':
      return { devices: await backend.devices() }
    case 'open': {
      const id = nextCase++
      const made = await backend.open(call.problem)
      open.set(id, made)
      return { id, timer: made.timer, tickNs: made.tickNs, notes: made.notes, memory: made.memory() }
    }
    case 'refill':
      await prepared(call.id).refill(call.seed)
      return {}
    case 'poison':
      await prepared(call.id).poison()
      return {}
    case 'run':
      await prepared(call.id).run()
      return {}
    case 'scan':
      return { scans: await prepared(call.id).scan() }
    case 'read': {
      const values = await prepared(call.id).read(call.output, call.start, call.count)
      return { base64: toBase64(values instanceof Float32Array ? values : Int32Array.from(values)), whole: !(values instanceof Float32Array) }
    }
    case 'sample': {
      const { samplesNs, inner } = await prepared(call.id).sample(call.request)
      return { samplesNs: [...samplesNs], inner }
    }
    case 'dispose':
      await prepared(call.id).dispose()
      open.delete(call.id)
      return {}
  }
}

window.remoteCall = (call) =>
  answer(call).catch((error: unknown) => ({ error: error instanceof CaseError ? { code: error.code, message: error.message, detail: error.detail } : { code: 'internal', message: String(error) } }))
