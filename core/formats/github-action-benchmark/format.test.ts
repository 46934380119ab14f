import { expect, it } from 'vitest'
import { testResult, testSession } from '../../testing'
import { exportSession } from '../registry'

const entriesOf = (...results: ReturnType<typeof testResult>[]) => JSON.parse(exportSession('github-action-benchmark', testSession(results))) as Record<string, unknown>[]

it('shows half of the interval as the range', () => {
  expect(entriesOf(testResult())).toEqual([{ name: 'add/n=1000/f32/cpu/avx2/cpu/hot/t1', unit: 'ns', value: 100, range: '± 1.25', extra: 'cpu avx2 on cpu, hot\n3 samples\n95 % CI ± 1.25 %\ngrade A\n120.0 GB/s' }])
})

it('counts the runs of a case as one entry', () => {
  const [entry, ...others] = entriesOf(testResult({ run: 0 }), testResult({ id: 'r2', run: 1 }))
  expect(others).toEqual([])
  expect(entry?.['extra']).toContain('6 samples in 2 runs')
})

it('says nothing of what is not known', () => {
  expect(entriesOf(testResult({ summary: { medianNs: 7 }, grade: undefined, bytes: 0 }))).toEqual([{ name: 'add/n=1000/f32/cpu/avx2/cpu/hot/t1', unit: 'ns', value: 7, extra: 'cpu avx2 on cpu, hot' }])
})
