import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { deviceOn, placeOf, remoteDevice } from '@core/fleet/place'
import { testDevice, testResult } from '@core/testing'
import type { HostLink } from '@core/measure/protocol'
import { PRESETS } from '@core/measure/settings'
import { placed } from './box'
import { remoteProblemOf } from './problem'
import { startSsh } from './ssh'
import { nameFor, RemoteStore } from '.'

test('a device id says the machine where that is another one', () => {
  expect(placeOf('python:cuda:0@torch2')).toEqual({ device: 'python:cuda:0@torch2' })
  expect(placeOf(deviceOn('gpubox', 'cuda:0'))).toEqual({ host: 'gpubox', device: 'cuda:0' })
  expect(remoteDevice('gpubox', testDevice({ sameHardwareAs: { backend: 'cuda', id: 'cuda:0', name: 'x' } }))).toMatchObject({ id: 'gpubox/cpu', host: 'gpubox', sameHardwareAs: { id: 'gpubox/cuda:0' } })
})

test('a machine is kept by name and destination alone, readable by its owner', () => {
  const folder = mkdtempSync(join(tmpdir(), 'opscope-remotes-'))
  const store = new RemoteStore(folder)
  expect(store.add('me@gpubox.lab.example')).toEqual({ name: 'gpubox', destination: 'me@gpubox.lab.example' })
  store.add('ssh://10.0.0.7:2200')
  expect(() => store.add('me@gpubox.lab.example')).toThrow('there is a remote machine "gpubox" for me@gpubox.lab.example already')
  expect(() => store.add('you@gpubox', 'gpubox')).toThrow('there is a remote machine "gpubox" already; give this one another name')
  // The window asks for no name: machines with one first part get different ones.
  expect([store.add('me@gpubox.other.example').name, store.add('me@gpubox.third.example').name]).toEqual(['gpubox-2', 'gpubox-3'])
  store.remove('gpubox-2')
  store.remove('gpubox-3')
  expect(() => store.add('you@other', 'a/b')).toThrow(RangeError)
  store.remove('10.0.0.7')
  expect(() => store.remove('10.0.0.7')).toThrow('there is no remote machine "10.0.0.7"; there are: gpubox')
  expect(new RemoteStore(folder).list()).toEqual([{ name: 'gpubox', destination: 'me@gpubox.lab.example' }])
  // Another process adds one: it is seen here, and stays when this one saves.
  new RemoteStore(folder).add('me@second')
  expect(store.list()).toHaveLength(2)
  store.add('me@third')
  store.remove('second')
  store.remove('third')
  writeFileSync(join(folder, 'remotes.json'), readFileSync(join(folder, 'remotes.json'), 'utf8').replace('me@gpubox', '-oProxyCommand=sh '))
  expect(new RemoteStore(folder).list()).toEqual([])
  expect(new RemoteStore(folder).notice).toBe('The list of remote machines could not be read; add them again.')
})

test.each([['user@gpubox.lab', 'gpubox'], ['gpubox', 'gpubox'], ['ssh://me@gpubox:22', 'gpubox'], ['10.1.2.3', '10.1.2.3'], ['[::1]', 'remote']])('%s is called %s', (destination, name) => expect(nameFor(destination)).toBe(name))

test('nothing but a destination reaches ssh, and nothing but a script the shell there', () => {
  for (const wanted of ['-V', 'a b', 'a;b', '$(x)', "a'b", 'a\nb', '@', '']) expect(() => startSsh(wanted, 'true'), wanted).toThrow(RangeError)
  expect(() => startSsh('gpubox', "echo 'x'")).toThrow('a script for ssh must have no single quotes')
})

test.each([
  ['@@@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @@@\nHost key verification failed.', /^The host key of box is not the one/, false],
  ['No ED25519 host key is known for [127.0.0.1]:2222 and you have requested strict checking.\nHost key verification failed.', /^The host key of box is not known to ssh\./, false],
  ['me@box: Permission denied (publickey).', /^box refused the login\./, false],
  ['tar: ./node: Cannot write: No space left on device', /^The disk of box is full/, false],
  ['mkdir: cannot create directory ‘/home/me/.cache/opscope’: Permission denied', /^Opscope's agent could not be copied to box: its ~\/\.cache\/opscope cannot be written/, false],
  ['ssh: connect to host box port 22: Connection refused', /^box refused the connection\.$/, true],
  ['ssh: connect to host box port 22: No route to host', /^box did not answer\.$/, true],
  ['Connection closed by 10.0.0.7 port 22', /^The connection to box was closed\.$/, true],
  ['something new', /^It ended: something new$/, true],
  ['', /^It ended\.$/, true],
])('ssh said %j', (stderr, sentence, passing) => {
  const problem = remoteProblemOf('box', 'me@box', stderr, 'It ended.')
  expect(problem.message).toMatch(sentence)
  expect(problem.passing).toBe(passing)
})

test('devices and results of a machine carry its name, requests do not', () => {
  const sent: unknown[] = []
  const heard: unknown[] = []
  let say: (message: unknown) => void = () => undefined
  const raw: HostLink = { send: (message) => sent.push(message), onMessage: (listener) => (say = listener), onExit: () => undefined, kill: () => undefined }
  const link = placed('gpubox', raw)
  link.onMessage((message) => heard.push(message))
  const result = testResult()
  link.send({ type: 'measure', id: 1, case: { ...result.case, device: 'gpubox/cpu' }, settings: PRESETS.quick, resultId: 'r1' })
  expect(sent).toMatchObject([{ case: { device: 'cpu' } }])
  say({ type: 'devices', id: 2, devices: [testDevice()] })
  say({ type: 'result', id: 1, result })
  say({ type: 'nonsense' })
  expect(heard).toEqual([
    { type: 'devices', id: 2, devices: [remoteDevice('gpubox', testDevice())] },
    { type: 'result', id: 1, result: { ...result, case: { ...result.case, device: 'gpubox/cpu' } } },
    { type: 'nonsense' },
  ])
})
