import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { REQUESTS, type Channel } from '@core/ipc'
import { createRandom } from '@core/stats/random'
import { startApp } from './app'
import type { Bench, Outcome } from './bench'

const TEXTS = ['', 'x', '../../etc/passwd', '\u0000', '\u001b[2J', '__proto__', 'last', 'file:///etc/passwd', '\\\\server\\share', 'x'.repeat(70_000)]
const NUMBERS = [0, -1, 0.5, 1e308, 2 ** 53, NaN]
const KEYS = ['id', 'ids', 'name', 'first', 'count', 'spec', 'python', 'extra', 'chosen', 'typed', 'search', 'deleted', 'devices', 'pairs', 'format', 'leaveOut', 'dropped', 'bytes', 'sessionId', 'data', 'kind', 'text', 'changes', 'tags', 'how', 'on', 'link', 'theme', 'columns', 'refresh', 'caseId', '__proto__', 'constructor']

/** A value of any shape, as the seed decides. */
function anything(random: () => number, depth = 0): unknown {
  const below = (bound: number) => Math.floor(random() * bound)
  switch (below(depth > 3 ? 5 : 7)) {
    case 0: return null
    case 1: return random() < 0.5
    case 2: return NUMBERS[below(NUMBERS.length)]
    case 3: case 4: return TEXTS[below(TEXTS.length)]
    case 5: return Array.from({ length: below(4) }, () => anything(random, depth + 1))
    default: return Object.fromEntries(Array.from({ length: 1 + below(4) }, () => [KEYS[below(KEYS.length)]!, anything(random, depth + 1)]))
  }
}

interface Answer {
  ok: boolean
  error?: { code: string; message: string }
}

/**
 * Calls that a page taken over by an attacker could make, over every channel, in the built app (npm run build): payloads
 * of any shape, and programs to run. Each must be answered with a typed error, change nothing and run nothing. count=60 payloads for each channel
 */
const bench: Bench = async ({ args, say }): Promise<Outcome> => {
  const count = Number(args['count'] ?? 60)
  const folder = mkdtempSync(join(tmpdir(), 'opscope-page-'))
  const ran = join(folder, 'ran')
  const program = join(folder, 'python3')
  writeFileSync(program, `#!/bin/sh\ntouch ${ran}\necho Python 3.12.1\n`, { mode: 0o755 })
  const random = createRandom(20261122)
  const app = await startApp()
  try {
    const invoke = async (calls: readonly (readonly [string, unknown])[]) => JSON.parse(await app.evaluate<string>(`Promise.all(${JSON.stringify(calls)}.map(([channel, payload]) => window.opscope.invoke(channel, payload))).then((replies) => JSON.stringify(replies.map((reply) => reply.ok ? { ok: true } : reply)))`)) as Answer[]
    const state = () => app.evaluate<string>(`Promise.all([['settings:get'], ['sessions:list', { search: '', deleted: false }], ['sessions:list', { search: '', deleted: true }], ['run:state']].map(([channel, payload]) => window.opscope.invoke(channel, payload))).then(([settings, ...rest]) => JSON.stringify([{ ...settings.value, lastView: undefined }, ...rest]))`)
    const before = await state()
    const channels = Object.keys(REQUESTS) as Channel[]
    let [calls, untyped, answeredOk] = [0, 0, 0]
    for (const channel of channels) {
      // What the contract takes is no attack: it would open dialogs and start runs.
      const payloads = Array.from({ length: count }, () => JSON.parse(JSON.stringify(anything(random)) ?? 'null') as unknown).filter((payload) => !REQUESTS[channel].request.safeParse(payload).success)
      const answers = await invoke(payloads.map((payload) => [channel, payload] as const))
      calls += payloads.length
      answeredOk += answers.filter(({ ok }) => ok).length
      untyped += answers.filter(({ ok, error }) => !ok && error?.code !== 'bad-request').length
    }
    say(`${calls} calls over ${channels.length} channels`)
    const strangers = await invoke(['ELECTRON_BROWSER_REQUIRE', '', '__proto__', 'settings:set\u0000', 'toString'].map((channel) => [channel, null] as const))
    const programs = [...[program, '/bin/sh', '\\\\server\\share\\python.exe', '//server/share/python', 'smb://server/python', `${program}\u0000`].flatMap((path) => [['settings:set', { python: { extra: [path] } }], ['settings:set', { python: { extra: [], chosen: [path] } }]] as const), ...['\\\\server\\share\\python.exe', '//server/share/python', 'smb://server/python', `${program}\u0000`, 'python3', '~root'].map((typed) => ['python:add', { typed }] as const)]
    const named = await invoke(programs)
    await invoke([['devices:list', { refresh: true }]])
    const same = (await state()) === before
    return {
      figures: [
        { name: 'channels', value: channels.length, unit: '', published: true },
        { name: 'calls with payloads that no request takes', value: calls, unit: '', published: true },
        { name: 'of these carried out', value: answeredOk, unit: '', aim: 0, better: 'less' },
        { name: 'of these without a typed error', value: untyped, unit: '', aim: 0, better: 'less' },
        { name: 'calls over channels that are none', value: strangers.length, unit: '', published: true },
        { name: 'of these carried out', value: strangers.filter(({ ok }) => ok).length, unit: '', aim: 0, better: 'less' },
        { name: 'programs named to be run', value: programs.length, unit: '', published: true },
        { name: 'of these taken', value: named.filter(({ ok }) => ok).length, unit: '', aim: 0, better: 'less' },
        { name: 'programs that ran', value: existsSync(ran) ? 1 : 0, unit: '', aim: 0, better: 'less' },
        { name: 'changes of settings, sessions and the run', value: same ? 0 : 1, unit: '', aim: 0, better: 'less' },
      ],
    }
  } finally {
    await app.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
export default bench
