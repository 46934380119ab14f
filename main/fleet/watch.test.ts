import { expect, test } from 'vitest'
import { laneOf, modelLane, type Presence } from './messages'
import { fleetView, remember, SILENT_MS, type Heard } from './watch'

const device = (change: Partial<Presence['devices'][number]> = {}): Presence['devices'][number] => ({ backend: 'cuda', device: 'cuda:0', name: 'H200', driver: '580', state: 'measuring', measured: 3, meanSeconds: 4, current: 'add 64 f32 cuda:0 kernel hot', seconds: 1, ...change })
const presence = (host: string, change: Partial<Presence> = {}): Presence => ({ version: 1, host, opscope: '1', draining: false, devices: [device()], ...change })
const queue = (host: string, waiting: number) => ({ lane: laneOf(host, 'cuda', 'cuda:0'), waiting, measuring: 0 })

test('how long is left is what waits times the mean of a case, and what the case that is measured still needs', () => {
  const { hosts, shared, unserved } = fleetView([{ presence: presence('n10'), at: 0 }, { presence: presence('n9'), at: 0 }], [queue('n9', 5), queue('n10', 0), { lane: modelLane('cuda', 'H200', '580'), waiting: 4, measuring: 0 }], 100)
  expect(hosts.map(({ host, state, devices: [one] }) => [host, state, one!.waiting, one!.secondsLeft])).toEqual([['n9', 'up', 5, 5 * 4 + 2 * 4 + 3], ['n10', 'up', 0, 2 * 4 + 3]])
  expect([shared, unserved]).toEqual([[{ model: 'H200', waiting: 4 }], []])
})

test('a device that has measured nothing, or has nothing to do, has no time left to tell', () => {
  const idle = presence('n1', { devices: [device({ state: 'idle', measured: 0, meanSeconds: undefined, current: undefined, seconds: undefined })] })
  expect(fleetView([{ presence: idle, at: 0 }], [queue('n1', 5)], 0).hosts[0]!.devices[0]).not.toHaveProperty('secondsLeft')
  const done = presence('n1', { devices: [device({ state: 'idle', current: undefined, seconds: undefined })] })
  expect(fleetView([{ presence: done, at: 0 }], [queue('n1', 0)], 0).hosts[0]!.devices[0]).not.toHaveProperty('secondsLeft')
})

test('hosts that are lost or stopped say why, and work that nobody is there for is told', () => {
  const heard = [{ presence: presence('n1'), at: 0 }, { presence: presence('n2', { draining: true }), at: 7000 }, { presence: presence('n3', { draining: true, leaving: true }), at: 5000 }]
  const { hosts, unserved } = fleetView(heard, [queue('n1', 7), queue('n8', 2)], 7000)
  expect(SILENT_MS).toBeLessThan(7000)
  expect(hosts.map(({ state, reason }) => [state, reason])).toEqual([
    ['silent', 'No heartbeat for 7 s: the machine, its network or its agent is down. 7 cases wait until its agent is back.'],
    ['draining', 'It finishes its current cases and takes no new ones.'],
    ['left', 'Its agent was drained or stopped 2 s ago.'],
  ])
  expect(unserved).toEqual([{ queue: 'n8-cuda_0', waiting: 2 }])
})

test('of too many hosts the one that has been silent longest is forgotten', () => {
  const heard = new Map<string, Heard>()
  for (const [at, host] of ['n1', 'n2', 'n1', 'n3'].entries()) remember(heard, presence(host), at, 2)
  expect([...heard].map(([host, { at }]) => [host, at])).toEqual([['n1', 2], ['n3', 3]])
})
