import { CaseError, type PreparedCase } from '@core/backend'
import type { Values } from '@core/values/numbers'
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

let nextRead = 1

/** Posts elements to the page's server: in a reply they would be text, and so they would be in what the browser tells of a request whose body is no blob. */
async function post(values: Values): Promise<{ posted: string; whole: boolean }> {
  const posted = `/read/${nextRead++}`
  const whole = !(values instanceof Float32Array)
  await fetch(posted, { method: 'POST', body: new Blob([whole ? Int32Array.from(values) : (values as Float32Array<ArrayBuffer>)]) })
  return { posted, whole }
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
    case 'read':
      return post(await prepared(call.id).read(call.output, call.start, call.count))
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
