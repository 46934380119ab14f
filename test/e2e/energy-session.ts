import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'

const RESULTS = resolve(import.meta.dirname, '../bench/results')
const FIXTURES = resolve(import.meta.dirname, '../fixtures')
export const ENERGY_SESSION = 'Energy of matmul on NVIDIA H200'

interface EnergyRow {
  case: string
  seconds: number
  medianNs: number
  joulesPerCall: number
  lowJ: number
  highJ: number
  calls: number
  watts: number
  idleWatts: number
}
interface SessionText {
  session: object
  results: { startedAt: string }[]
}

/** Energy of matrix products as measured on one card, as a session in a new file of this folder: figures without samples. Gives its path. */
export function energyFile(folder: string): string {
  const { rows } = JSON.parse(readFileSync(join(FIXTURES, 'energy-matmul.json'), 'utf8')) as { rows: EnergyRow[] }
  const like = JSON.parse(gunzipSync(readFileSync(join(RESULTS, 'python-session.json.gz'))).toString('utf8')) as SessionText
  const results = rows.map((row, i) => {
    const [, dtype, k, m, n, device, impl] = /^matmul (\w+) k=(\d+),m=(\d+),n=(\d+), (\S+) (\S+)$/.exec(row.case)!
    const size = { m: Number(m), n: Number(n), k: Number(k) }
    return {
      id: `energy-${i}`, case: { op: 'matmul', params: size, dtype, backend: 'cuda', impl, device, mode: 'hot' }, status: 'ok', startedAt: like.results[0]!.startedAt, wallMs: 1000 * row.seconds, measuredMs: 0, seed: 0, samplesNs: [],
      bytes: 2 * (size.m * size.k + size.k * size.n + size.m * size.n), flops: 2 * size.m * size.n * size.k, summary: { medianNs: row.medianNs },
      energy: { joulesPerCall: row.joulesPerCall, lowJ: row.lowJ, highJ: row.highJ, windows: 5, seconds: row.seconds, calls: row.calls, watts: row.watts, idleWatts: row.idleWatts, source: 'energy counter' },
    }
  })
  const file = join(folder, 'energy.opscope.json')
  writeFileSync(file, JSON.stringify({ ...like, session: { ...like.session, id: 'energy', name: ENERGY_SESSION, planned: results.length }, results }))
  return file
}
