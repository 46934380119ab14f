import { spawnSync } from 'node:child_process'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testCase, testResult, testSession } from '@core/testing'
import { openHistory } from '../../main/history'
import type { Bench, Outcome } from './bench'
import { start, steers, STEERING, workFolder } from './attack/command'

/** Characters of a file at the limit of what is read. */
const FULL = 2 ** 26 - 64
const filled = (before: string, piece: string, after: string, length = FULL) => before + piece.repeat(Math.floor((length - before.length - after.length) / piece.length)) + after

const session = (results: string) => JSON.stringify(testSession([])).replace('"results":[]', `"results":[${results}]`)
/** As many numbers as are read, as samples of one result. */
const samples = (count: number) => session(JSON.stringify(testResult({ id: 'r' })).replace(/"samplesNs":\[[^\]]*\]/, `"samplesNs":[${'1.5,'.repeat(count)}2]`))
const manyResults = (count: number) => session(Array.from({ length: count }, (_, i) => JSON.stringify(testResult({ id: `r${i}` }))).join())

/** What each file holds; those of paths are named as they are. */
const FILES: Readonly<Record<string, (at: (name: string) => string) => string | { path: string }>> = {
  'empty objects up to 64 MiB': () => filled('[', '{},', '{}]'),
  'empty objects, as many as are counted': () => `[${'{},'.repeat(199_990)}{}]`,
  'results that are empty': () => session(`${'{},'.repeat(1_390_000)}{}`),
  'lists in lists': () => `[${'[[]],'.repeat(99_000)}[]]`,
  'objects with names of their own': () => `[${Array.from({ length: 190_000 }, (_, i) => `{"k${i}":${i}}`).join()}]`,
  'benchmarks of Google Benchmark that are empty': () => `{"context":{},"benchmarks":[${'{},'.repeat(190_000)}{}]}`,
  'benchmarks of pytest that are empty': () => `{"machine_info":{},"benchmarks":[${'{},'.repeat(190_000)}{}]}`,
  'numbers up to 64 MiB': () => filled('[', '1,', '1]'),
  'samples, as many as are read': () => samples(3_400_000),
  'results, as many as are read': () => manyResults(55_000),
  'members of one object': () => `{${Array.from({ length: 500_000 }, (_, i) => `"k${i}":1`).join()}}`,
  'one text of 64 MiB': () => filled('["', 'a', '"]'),
  'one text of 64 MiB, two bytes a character': () => filled('["\u0101', 'a', '"]'),
  'a million lists that are not closed': () => '['.repeat(1_000_000),
  'CSV of commas': () => filled('a,b\n', ',', '\n'),
  'CSV of lines': () => filled('name,median\n', '1,2\n', ''),
  'CSV of cells, as many as are read': () => `${'a,'.repeat(1999)}a\n${`${'1,'.repeat(1999)}1\n`.repeat(1_700)}`,
  'JSON Lines of objects': () => `${JSON.stringify({ ...testSession([]), results: 1e9 })}\n${'{}\n'.repeat(1_390_000)}`,
  'JSON that ends early': () => manyResults(2000).slice(0, -5),
  'zeros up to 64 MiB': () => '\0'.repeat(FULL),
  'a prototype': () => session('').replace('"notes"', '"__proto__":{"polluted":true},"notes"'),
  'text that steers a terminal': () => JSON.stringify(testSession([testResult({ id: 'steering', case: testCase({ op: STEERING }) }), testResult({ id: 'failed', status: 'failed', summary: undefined, message: STEERING })], { id: 'steering', name: STEERING, tags: ['t\u001b[2J'] })),
  'an id that steers a terminal': () => JSON.stringify(testSession([], { id: '\u001b[2J\u001b]0;owned\u0007' })),
  'a file of 64 GiB': (at) => {
    writeFileSync(at('sparse.json'), '')
    truncateSync(at('sparse.json'), 2 ** 36)
    return { path: at('sparse.json') }
  },
  'a device without an end': () => ({ path: '/dev/zero' }),
  'a pipe that nobody writes to': (at) => {
    spawnSync('mkfifo', [at('pipe.json')])
    return { path: at('pipe.json') }
  },
  'a folder': (at) => ({ path: at('.') }),
}

/** Hostile files, each imported by the built command line (npm run build), which must end by itself, in little memory, and say nothing that steers a terminal. only=TEXT takes those whose name has it. */
const bench: Bench = async ({ args, say }): Promise<Outcome> => {
  const { folder, remove } = workFolder()
  const at = (name: string) => join(folder, name)
  try {
    const rows = []
    const data = join(folder, 'data')
    for (const [what, make] of Object.entries(FILES).filter(([name]) => name.includes(args['only'] ?? ''))) {
      const made = make(at)
      const path = typeof made === 'string' ? at('hostile.json') : made.path
      if (typeof made === 'string') writeFileSync(path, made)
      const { status, signal, text, seconds, peakBytes } = await start(['import', path], { folder, limitMs: 30_000 }).ended
      say(`${what}: status ${status ?? signal}, ${seconds.toFixed(1)} s, ${Math.round((peakBytes ?? NaN) / 1e6)} MB: ${text.trim().slice(0, 120)}`)
      rows.push({ what, status: status ?? -1, seconds, peakMB: Math.round((peakBytes ?? NaN) / 1e6), steers: steers(text), answered: text.trim() !== '' })
    }
    const shown = await start(['show', 'steering'], { folder }).ended
    const { history } = openHistory(join(data, 'history.sqlite'))
    const sessions = history.listSessions({ search: '', deleted: false })
    history.close()
    const accepted = rows.filter((row) => row.status === 0).length
    return {
      figures: [
        { name: 'hostile files', value: rows.length, unit: '', published: true },
        { name: 'files that were read as sessions', value: accepted, unit: '', published: true },
        { name: 'sessions stored beside those', value: sessions.length - accepted, unit: '', aim: 0, better: 'less' },
        { name: 'crashes and hangs', value: rows.filter((row) => row.status !== 0 && row.status !== 1 && row.status !== 2).length, unit: '', aim: 0, better: 'less' },
        { name: 'files without an answer', value: rows.filter((row) => !row.answered).length, unit: '', aim: 0, better: 'less' },
        { name: 'outputs that steer a terminal', value: rows.filter((row) => row.steers).length + (steers(shown.text) ? 1 : 0), unit: '', aim: 0, better: 'less' },
        { name: 'most memory of one import', value: Math.max(...rows.map((row) => row.peakMB)), unit: 'MB', aim: 500, better: 'less' },
        { name: 'longest import', value: Math.max(...rows.map((row) => row.seconds)), unit: 's', published: true },
      ],
      rows,
    }
  } finally {
    remove()
  }
}
export default bench
