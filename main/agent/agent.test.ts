import { PassThrough } from 'node:stream'
import { deflateRawSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import type { FromHost } from '@core/measure/protocol'
import { PRESETS } from '@core/measure/settings'
import { testCase } from '@core/testing'
import { ScriptedKind } from '../runner/testing'
import { FrameError, frameOf, FrameReader } from './frames'
import { BANNER, fromAgentSchema, type AgentState, type FromAgent } from './protocol'
import { serveAgent } from './serve-agent'

const facts = { appVersion: '0', host: 'h', os: 'o', kernel: 'k', cpu: 'c', logicalCpus: 1, memoryBytes: 1, node: '24' }
const lines: PassThrough[] = []
afterEach(() => {
  for (const line of lines.splice(0)) line.end()
})

/** An agent over streams of this test, with one scripted kind of host. */
function agent(kind = new ScriptedKind('cpu'), silenceMs = 10_000) {
  const [input, output] = [new PassThrough(), new PassThrough()]
  lines.push(input)
  const ended = serveAgent({ input, output }, { version: '0', environment: facts, hostKind: () => kind, silenceMs })
  const reader = new FrameReader(2 ** 24)
  const heard: FromAgent[] = []
  let banner = ''
  output.on('data', (chunk: Buffer) => {
    if (banner === '') banner = chunk.toString()
    else heard.push(...reader.push(chunk).map((message) => fromAgentSchema.parse(message)))
  })
  const fromHost = () => heard.flatMap((message): FromHost[] => (message.type === 'host' ? [message.message] : []))
  const states = () => heard.flatMap((message): AgentState[][] => (message.type === 'state' ? [message.devices] : []))
  return { input, ended, heard, fromHost, states, kind, banner: () => banner, send: (message: unknown) => input.write(frameOf(message)) }
}

const measure = (id: number, op = 'add') => ({ type: 'host', channel: 1, message: { type: 'measure', id, case: testCase({ op }), settings: PRESETS.quick, resultId: `r${id}` } })

test('messages of any size pass in frames, however the stream is cut', () => {
  const messages = [{ a: 1 }, { samples: Array.from({ length: 5000 }, (_, i) => 0.1 * i) }, 'x'.repeat(511), []]
  const bytes = Buffer.concat(messages.map(frameOf))
  expect(bytes.length).toBeLessThan(JSON.stringify(messages).length)
  for (const cut of [1, 7, 4096, bytes.length]) {
    const reader = new FrameReader(2 ** 20)
    const got: unknown[] = []
    for (let i = 0; i < bytes.length; i += cut) got.push(...reader.push(bytes.subarray(i, i + cut)))
    expect(got).toEqual(messages)
  }
})

test('what is no frame, is too large, or grows too large is an error', () => {
  const frame = (body: Buffer, kind: number, length = body.length) => Buffer.concat([Buffer.from(Uint32Array.of(length).buffer), Buffer.of(kind), body])
  const reads = (bytes: Buffer) => () => new FrameReader(1000).push(bytes)
  expect(reads(Buffer.from('Last login: Sunday'))).toThrow(FrameError)
  expect(reads(frame(Buffer.from('{}'), 0, 1001))).toThrow('a message of 1001 bytes; at most 1000 are allowed')
  expect(reads(frame(deflateRawSync(Buffer.alloc(100_000)), 1))).toThrow(FrameError)
  expect(reads(frame(Buffer.from('{'), 0))).toThrow(FrameError)
})

test('hosts are started, asked and ended over one line', async () => {
  const { send, fromHost, heard, kind, banner, states } = agent()
  await expect.poll(() => heard[0]).toMatchObject({ type: 'hello', version: '0', environment: { host: 'h' } })
  expect(banner()).toBe(`${BANNER}\n`)
  send({ type: 'start', channel: 1, host: 'native' })
  await expect.poll(fromHost).toEqual([{ type: 'ready' }])
  send({ type: 'host', channel: 1, message: { type: 'devices', id: 1 } })
  await expect.poll(states).toEqual([[{ backend: 'cpu', device: 'cpu', name: 'Test cpu', activity: 'idle' }]])
  send(measure(2))
  await expect.poll(() => fromHost().at(-1)).toMatchObject({ type: 'result', result: { id: 'r2' } })
  expect(states().map(([state]) => state?.activity)).toEqual(['idle', 'measuring', 'idle'])
  send({ type: 'end', channel: 1 })
  await expect.poll(() => heard.at(-1)).toEqual({ type: 'ended', channel: 1, reason: 'killed' })
  send({ type: 'start', channel: 1, host: 'native' })
  await expect.poll(() => kind.starts).toBe(2)
})

test('a message that is not in the protocol, an unknown operation and a channel that is not there cost that message', async () => {
  const { send, heard, fromHost, kind } = agent()
  send({ type: 'start', channel: 1, host: 'native' })
  await expect.poll(fromHost).toEqual([{ type: 'ready' }])
  send({ type: 'exec', command: 'rm -rf /' })
  send({ type: 'start', channel: 2, host: 'native', program: '/bin/sh' })
  send({ type: 'start', channel: 2, host: 'shell' })
  send({ type: 'host', channel: 7, message: { type: 'devices', id: 1 } })
  send({ type: 'host', channel: 1, message: { type: 'devices', id: '1' } })
  send(measure(3, 'rm'))
  send(measure(4))
  await expect.poll(() => fromHost().at(-1)).toMatchObject({ type: 'result', result: { id: 'r4' } })
  expect(heard.filter(({ type }) => type === 'refused')).toHaveLength(4)
  expect(fromHost()).toContainEqual({ type: 'error', id: 3, message: 'This version has no operation "rm".' })
  expect(kind.measured).toHaveLength(1)
})

test('the death of a host is told with its reason, and so is one that does not start', async () => {
  const kind = new ScriptedKind('cpu', () => 'die')
  kind.fail = (start) => (start === 1 ? 'no addon' : undefined)
  const { send, heard } = agent(kind)
  send({ type: 'start', channel: 1, host: 'native' })
  await expect.poll(() => heard.at(-1)).toEqual({ type: 'ended', channel: 1, reason: 'no addon' })
  send({ type: 'start', channel: 1, host: 'native' })
  send(measure(1))
  await expect.poll(() => heard.some(({ type }) => type === 'refused')).toBe(true)
  send(measure(2))
  await expect.poll(() => heard.at(-1)).toEqual({ type: 'ended', channel: 1, reason: 'killed by SIGSEGV\nstderr: boom' })
})

test('it ends with the hosts it has when its line closes, is silent for too long, or carries no frames', async () => {
  const started = async (silenceMs?: number) => {
    const one = agent(new ScriptedKind('cpu'), silenceMs)
    one.send({ type: 'start', channel: 1, host: 'native' })
    await expect.poll(one.fromHost).toHaveLength(1)
    return one
  }
  const closed = await started()
  closed.input.end()
  expect(await closed.ended).toBe('the line was closed')
  expect(closed.kind.kills).toBe(1)
  const silent = await started(200)
  expect(await silent.ended).toMatch(/^nothing arrived for/)
  expect(silent.kind.kills).toBe(1)
  const noise = await started()
  noise.input.write(Buffer.alloc(9, 0xff))
  expect(await noise.ended).toMatch(/^the other side sent something that is no frame/)
})
