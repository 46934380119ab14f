import { describe, expect, it } from 'vitest'
import { testCase, testDevice, testGpu, testResult, testSession } from '../../testing'
import type { Ceiling } from '../../session/types'
import { exportSession, importSession } from '../registry'
import { plausibleSession } from '../testing/sessions'

const row = { operation: 'GELU', implementation: 'Triton', batch_size: 16, sequence_length: 256, tensor_dimension: 64, time_ms: 0.25, memory_mb: 8, inference_speed: 4000, gpu_efficiency: 87.5, throughput_gbps: 12 }
const outcomeOf = (value: unknown) => importSession('c.json', JSON.stringify(value), '2026-01-01T00:00:00.000Z')
const read = (value: unknown) => {
  const outcome = outcomeOf(value)
  if (!outcome.ok) throw new Error(outcome.message)
  return outcome.file
}
const rowsOf = (...given: Parameters<typeof exportSession>) => JSON.parse(exportSession(...given)) as Record<string, unknown>[]

describe('reading', () => {
  it('a mean is shown as the median, and says so', () => {
    const [result] = read([row]).results
    expect(result).toMatchObject({ case: { op: 'GELU', impl: 'Triton', device: 'cuda:0', params: { batch_size: 16, sequence_length: 256, tensor_dimension: 64 } }, summary: { medianNs: 250_000, meanNs: 250_000 }, samplesNs: [], caseBytes: 8 * 2 ** 20, bytes: 3_000_000, stated: { gpu_efficiency: 87.5 } })
    expect(result?.notes?.join(' ')).toContain('the mean is shown as the median')
    expect(result?.notes?.join(' ')).toContain('peak memory')
  })

  it('an object with results is the same as the list', () => {
    expect(read({ gpu: 'x', results: [row] }).results.map((r) => r.case)).toEqual(read([row]).results.map((r) => r.case))
  })

  it('figures that are missing stay missing', () => {
    const { memory_mb: _m, throughput_gbps: _t, gpu_efficiency: _g, ...few } = row
    const [result] = read([few]).results
    expect(result?.bytes).toBe(0)
    expect([result?.caseBytes, result?.stated]).toEqual([undefined, undefined])
  })

  it('names the row and key that are wrong', () => {
    expect(outcomeOf([row, { ...row, time_ms: '0.2' }])).toEqual({ ok: false, message: 'c.json: [1].time_ms: expected a number, received "0.2"' })
    expect(outcomeOf({ results: [{ ...row, batch_size: -4 }] })).toEqual({ ok: false, message: 'c.json: results[0].batch_size: expected a number of at least 0, received -4' })
  })
})

describe('writing', () => {
  it('a file of the suite comes back with its own ten keys', () => {
    const [written] = rowsOf('comprehensive', read([row]))
    expect(written).toEqual(row)
  })

  it('extents come from the input of the operation', () => {
    const [written] = rowsOf('comprehensive', testSession([testResult({ case: testCase({ op: 'layer_norm', params: { tokens: 512, dim: 768 } }) })]))
    expect(written).toMatchObject({ batch_size: 1, sequence_length: 512, tensor_dimension: 768 })
  })

  it('efficiency is a share of the measured ceiling, at most 100, on GPUs alone', () => {
    const copy = (value: number, on: { backend: string; device: string; deviceName: string }): Ceiling => ({ ...on, kind: 'copy', value, unit: 'bytes/s', measuredAt: '', result: testResult() })
    const session = testSession([testResult({ case: testCase({ backend: 'cuda', device: 'cuda:0', impl: 'kernel', threads: undefined }), flops: 0 })])
    session.environment.devices = [testDevice(), testGpu()]
    const gpu = { backend: 'cuda', device: 'cuda:0', deviceName: testGpu().name }
    const efficiency = (bytesPerSecond: number) => rowsOf('comprehensive', session, { ceilings: [copy(bytesPerSecond, gpu)] })[0]?.['gpu_efficiency']
    // 12,000 bytes in 100 ns are 120 GB/s.
    expect([efficiency(240e9), efficiency(60e9)]).toEqual([50, 100])
    expect(rowsOf('comprehensive', testSession(), { ceilings: [copy(240e9, { backend: 'cpu', device: 'cpu', deviceName: testDevice().name })] })[0]?.['gpu_efficiency']).toBeNull()
  })

  it('read again, gives every right result back with its case and figures', () => {
    let results = 0
    for (let seed = 0; seed < 200; seed++) {
      const original = plausibleSession(seed)
      const right = original.results.filter((result) => result.status === 'ok' && result.case.backend !== 'comprehensive')
      if (right.length === 0) continue
      const back = read(rowsOf('comprehensive', original)).results
      expect(back.map((result) => [result.case, result.bytes, result.flops])).toEqual(right.map((result) => [result.case, result.bytes, result.flops]))
      for (const [i, result] of back.entries()) {
        expect(Math.abs(result.summary!.medianNs / right[i]!.summary!.medianNs - 1)).toBeLessThan(1e-15)
        results++
      }
    }
    expect(results).toBeGreaterThan(50)
  })
})
