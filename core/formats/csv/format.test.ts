import { describe, expect, it } from 'vitest'
import { readCsv } from '../../csv'
import type { Ceiling } from '../../session/types'
import { testCase, testDevice, testResult, testSession } from '../../testing'
import { randomSession } from '../testing/sessions'
import { exportSession, importSession } from '../registry'

const cellsOf = (text: string): string[][] => {
  const read = readCsv(text)
  if (!read.ok) throw new Error(read.message)
  return read.records.map(({ cells }) => cells)
}
const table = (text: string) => {
  const [header, ...rows] = cellsOf(text)
  return rows.map((row) => Object.fromEntries(header!.map((name, i) => [name, row[i]!])))
}

const ceiling = (kind: string, value: number): Ceiling => ({ backend: 'cpu', device: 'cpu', deviceName: testDevice().name, kind, value, unit: kind === 'copy' ? 'bytes/s' : 'FLOP/s', measuredAt: '', result: testResult() })

describe('csv', () => {
  it('has one row per result with units in the column names', () => {
    const text = exportSession('csv', testSession(), { ceilings: [ceiling('copy', 240e9), ceiling('flops:f32', 1e15)] })
    expect(text.split('\n')[0]).toBe(
      'op,n,dtype,backend,impl,device,mode,threads,status,samples,median_ns,ci_low_ns,ci_high_ns,mad_ns,p05_ns,p95_ns,min_ns,max_ns,mean_ns,stddev_ns,bytes,flops,gbps,gflops,efficiency,ceiling_gbps,ceiling_gflops,speedup,peak_memory_bytes,library_peak_bytes,launch_overhead_ns,registers,shared_memory_bytes,occupancy,waves,energy_j,energy_low_j,energy_high_j,power_w,idle_power_w,flops_per_joule,bytes_per_joule,energy_delay_js,energy_windows,energy_seconds,energy_calls,energy_sampled_j,energy_source,instructions,cycles,l1_hit_ratio,llc_hit_ratio,max_rel_error,converged,grade,message,started_at,result_id',
    )
    expect(table(text)).toMatchObject([{ op: 'add', n: '1000', median_ns: '100', gbps: '120', gflops: '10', efficiency: '0.5', speedup: '1', peak_memory_bytes: '12000', max_rel_error: '2.5e-8', status: 'ok', threads: '1', stddev_ns: '' }])
  })

  it('rates no result by the ceilings of another machine', () => {
    expect(table(exportSession('csv', testSession(), { ceilings: [{ ...ceiling('copy', 240e9), deviceName: 'another CPU' }] }))[0]!.efficiency).toBe('')
  })

  it('gives the energy of a call and what follows from it', () => {
    const energy = { joulesPerCall: 0.5, lowJ: 0.49, highJ: 0.51, windows: 5, seconds: 10, calls: 1000, watts: 50, idleWatts: 20, source: 'NVML total energy' }
    const [row] = table(exportSession('csv', testSession([testResult({ flops: 1e9, bytes: 2e6, energy })])))
    expect(row).toMatchObject({ energy_j: '0.5', energy_low_j: '0.49', energy_high_j: '0.51', power_w: '50', idle_power_w: '20', flops_per_joule: '2000000000', bytes_per_joule: '4000000', energy_delay_js: '0.005' })
  })

  it('keeps what launching a call costs and the peak of the library, also when it is read again', () => {
    const text = exportSession('csv', testSession([testResult({ hostCallNs: 6200, libraryPeakBytes: 4096 }), testResult({ id: 'r2' })]))
    expect(table(text).map((row) => [row['launch_overhead_ns'], row['library_peak_bytes']])).toEqual([['6200', '4096'], ['', '']])
    const read = importSession('x.csv', text)
    expect(read.ok && read.file.results[0]).toMatchObject({ hostCallNs: 6200, libraryPeakBytes: 4096 })
  })

  it('has occupancy and registers of the kernel that starts most threads', () => {
    const launch = (kernel: string, blocks: number, registers: number) => ({ kernel, grid: [blocks, 1, 1] as [number, number, number], threads: 128, registers, sharedBytes: 4096, blocksPerSm: 4, occupancy: 0.25, waves: blocks / 528 })
    const [row] = table(exportSession('csv', testSession([testResult({ launches: [launch('split', 264, 80), launch('join', 12, 20)] })])))
    expect(['registers', 'shared_memory_bytes', 'occupancy', 'waves'].map((name) => row![name])).toEqual(['80', '4096', '0.25', '0.5'])
  })

  it('gives each row only the parameters it has, and renames those that would clash', () => {
    const rows = table(exportSession('csv', testSession([testResult({ case: testCase({ params: { rows: 2, cols: 3 } }) }), testResult({ case: testCase({ params: { n: 5, mode: 'training' } }) })])))
    expect(rows[0]).toMatchObject({ rows: '2', cols: '3', n: '', param_mode: '', mode: 'hot' })
    expect(rows[1]).toMatchObject({ rows: '', n: '5', param_mode: 'training', mode: 'hot' })
  })

  it('speedup compares the same work, and only right results have one', () => {
    const at = (impl: string, medianNs: number, change = {}) => testResult({ case: testCase({ impl }), summary: { ...testResult().summary!, medianNs }, ...change })
    const rows = table(exportSession('csv', testSession([at('wrong one', 1, { status: 'wrong' }), at('scalar', 400), at('avx2', 100), at('half', 50, { case: testCase({ params: { n: 500 } }) })])))
    expect(rows.map((row) => row['speedup'])).toEqual(['', '1', '4', '1'])
    expect(rows[0]).toMatchObject({ status: 'wrong', median_ns: '1', efficiency: '' })
  })

  it('a result without a measurement leaves its figures empty', () => {
    const [row] = table(exportSession('csv', testSession([testResult({ status: 'failed', message: 'no, "really"\nnot', samplesNs: [], summary: undefined, verification: undefined, caseBytes: undefined })])))
    expect(row).toMatchObject({ status: 'failed', message: 'no, "really"\nnot', median_ns: '', gbps: '', speedup: '', max_rel_error: '' })
  })

  it('every row of any session has as many cells as the header', () => {
    for (let seed = 0; seed < 200; seed++) {
      const file = randomSession(seed)
      const [header, ...rows] = cellsOf(exportSession('csv', file))
      expect(rows.length).toBe(file.results.length)
      for (const row of rows) expect(row.length).toBe(header!.length)
    }
  })
})
