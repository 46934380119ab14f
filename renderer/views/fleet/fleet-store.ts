import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import { NO_FLEET, type FleetState } from '@core/fleet/state'
import { formatInteger } from '@core/units'
import type { SweepSpec } from '@core/session/sweep-spec'
import type { Request } from '@core/ipc'
import { call, listen } from '../../lib/api'
import { useNotices } from '../../stores/notices'

const casesText = (count: number) => `${formatInteger(count)} ${count === 1 ? 'case' : 'cases'}`

/** A sweep, and the devices it is for; without them all that have its backends. */
export interface Order {
  spec: SweepSpec
  devices?: string[]
  anyOfModel: boolean
}

/** Machines that measure through a NATS server, while somebody looks. */
export const useFleet = defineStore('fleet', () => {
  const notices = useNotices()
  const state = shallowRef<FleetState>(NO_FLEET)
  const loaded = ref(false)
  const problem = shallowRef<unknown>()
  /** Sessions whose cases are being taken out of the queue. */
  const cancelling = ref(new Set<string>())
  let unlisten: (() => void) | undefined

  const devices = computed(() => state.value.hosts.flatMap((host) => host.devices.map((device) => ({ ...device, host }))))
  /** Those that take work. */
  const active = computed(() => devices.value.filter(({ host }) => host.state === 'up'))
  const waiting = computed(() => devices.value.reduce((sum, device) => sum + device.waiting, 0) + state.value.shared.reduce((sum, one) => sum + one.waiting, 0))
  /** Of the device that takes longest. */
  const secondsLeft = computed(() => {
    const known = active.value.flatMap((device) => (device.secondsLeft === undefined ? [] : [device.secondsLeft]))
    return known.length > 0 && waiting.value + active.value.filter(({ current }) => current !== undefined).length > 0 ? Math.max(...known) : undefined
  })

  async function watch(): Promise<void> {
    unlisten ??= listen('fleet:state', (next) => (state.value = next))
    problem.value = undefined
    try {
      state.value = await call('fleet:watch', { on: true })
    } catch (error) {
      problem.value = error
    } finally {
      loaded.value = true
    }
  }

  function unwatch(): void {
    unlisten?.()
    unlisten = undefined
    void call('fleet:watch', { on: false }).catch(() => undefined)
  }

  /** True where the server is used now; throws where it cannot be. */
  async function use(server: Request<'fleet:use'>): Promise<boolean> {
    const reply = await call('fleet:use', server)
    if (reply.done) state.value = reply.state
    return reply.done
  }

  async function drain(host?: string): Promise<void> {
    try {
      await call('fleet:drain', host === undefined ? {} : { host })
      notices.show({ level: 'info', message: `${host ?? 'Every agent'} was asked to finish. Queued cases stay in the queue.` })
    } catch (error) {
      notices.fail(error, 'drain the fleet')
    }
  }

  async function collect(): Promise<void> {
    try {
      await call('fleet:collect', undefined)
    } catch (error) {
      notices.fail(error, 'collect results')
    }
  }

  /** A sweep on the fleet in words. Throws with the reason where nothing can be measured. */
  const plan = async (order: Order): Promise<string> => (await call('fleet:plan', order)).text

  /** Throws with the reason where nothing can be measured. */
  async function run(order: Order): Promise<void> {
    const { cases, devices: used } = await call('fleet:run', order)
    notices.show({ level: 'info', message: `${casesText(cases)} queued for ${used} ${used === 1 ? 'device' : 'devices'}. Results are collected as they come.` })
  }

  /** Takes what is left of a session out of the queue; offers Undo. */
  async function cancel({ id, name }: FleetState['sessions'][number]): Promise<void> {
    if (cancelling.value.has(id)) return
    cancelling.value.add(id)
    try {
      const { cases, undoable } = await call('fleet:cancel', { sessionId: id })
      const done = cases > 0 ? `${casesText(cases)} of “${name}” cancelled. Results so far are kept.` : `No case of “${name}” is queued any more. Results so far are kept.`
      notices.show({ level: 'info', message: done, ...(undoable ? { undo: () => restore(id) } : {}), open: `/session/${encodeURIComponent(id)}` })
    } catch (error) {
      notices.fail(error, 'cancel the cases of this session')
    } finally {
      cancelling.value.delete(id)
    }
  }

  async function restore(id: string): Promise<void> {
    const { cases } = await call('fleet:restore', { sessionId: id })
    notices.show({ level: 'info', message: `${casesText(cases)} queued again.` })
  }

  return { state, loaded, problem, devices, active, waiting, secondsLeft, cancelling, watch, unwatch, use, drain, collect, plan, run, cancel }
})
