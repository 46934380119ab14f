import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Device } from '@core/backend'
import { deviceOn } from '@core/fleet/place'
import type { RemoteActivity } from '@core/fleet/state'
import { BACKENDS } from '@core/backends'
import { ceilingsOn } from '@core/roofline/ceilings'
import { noiseFloorOn } from '@core/session/environment'
import type { Ceiling, NoiseFloor } from '@core/session/types'
import { call, listen } from '../lib/api'

/** Least time between two looks at what disturbs the devices, in ms. */
const CHECK_MS = 4000

/** What can measure on this machine, and the measured limits and noise floor of each. */
export const useDevices = defineStore('devices', () => {
  const devices = shallowRef<readonly Device[]>([])
  const ceilings = shallowRef<Ceiling[]>([])
  const noiseFloors = shallowRef<readonly NoiseFloor[]>([])
  /** What devices of remote machines do, by backend and id. */
  const activities = shallowRef<ReadonlyMap<string, RemoteActivity>>(new Map())
  const loading = ref(false)
  const problem = shallowRef<unknown>()

  /** Backends that nothing is known of yet, while they are being looked for. */
  const awaited = computed(() => (loading.value ? BACKENDS.map(({ id }) => id).filter((backend) => !devices.value.some((device) => device.backend === backend)) : []))
  const available = computed(() => devices.value.filter((device) => device.available.ok))

  /** Whether one of these can be measured from here; a session of another machine has none. */
  const hasAny = (list: readonly { id: string; name: string }[]) => list.some((one) => available.value.some(({ id, name }) => one.id === id && one.name === name))

  let askedAt = -Infinity

  /** Takes over devices unless nothing about them has changed, so that nobody plans anew for nothing. */
  function take(list: readonly Device[]): void {
    if (JSON.stringify(list) !== JSON.stringify(devices.value)) devices.value = list
  }

  async function load(refresh = false): Promise<void> {
    loading.value = true
    problem.value = undefined
    askedAt = performance.now()
    try {
      // Devices also come by event, each host's as soon as it has answered.
      await Promise.all([
        call('devices:list', { refresh }).then(take),
        call('ceilings:list', undefined).then((list) => (ceilings.value = list)),
        call('noise:list', undefined).then((list) => (noiseFloors.value = list)),
      ])
    } catch (error) {
      problem.value = error
    } finally {
      loading.value = false
    }
  }

  /** Asks again, without a stir, what disturbs the devices; at most every few seconds. */
  async function check(): Promise<void> {
    if (loading.value || performance.now() - askedAt < CHECK_MS) return
    askedAt = performance.now()
    // What was known stands; the next look may succeed, and a run tells what is wrong.
    await call('devices:list', { refresh: true }).then(take, () => undefined)
  }

  function start(): void {
    listen('devices:changed', take)
    listen('remotes:state', ({ name, devices: told }) => {
      const others = [...activities.value].filter(([key]) => !key.includes(` ${name}/`))
      activities.value = new Map([...others, ...told.map((one): [string, RemoteActivity] => [`${one.backend} ${deviceOn(name, one.device)}`, one])])
    })
    listen('ceilings:changed', (list) => (ceilings.value = list))
    listen('noise:changed', (list) => (noiseFloors.value = list))
    void load()
  }

  const ceilingsOf = (device: Device) => ceilingsOn(ceilings.value, [device])
  const noiseOf = (device: Device) => noiseFloorOn(noiseFloors.value, device)

  /** Of a remote device, while its machine is connected. */
  const activityOf = ({ backend, id }: Device) => activities.value.get(`${backend} ${id}`)

  return { activityOf, devices, available, awaited, ceilings, ceilingsOf, noiseFloors, noiseOf, loading, problem, hasAny, load, check, start }
})
