import { expect, it } from 'vitest'
import { testCase, testResult, testSession } from '../../testing'
import { exportSession } from '../registry'
import { randomSession } from '../testing/sessions'

it('gives the latency in ns with its interval, and no bounds where there are none', () => {
  const session = testSession([testResult(), testResult({ id: 'r2', case: testCase({ mode: 'cold' }), summary: { medianNs: 7 } }), testResult({ id: 'r3', status: 'wrong', case: testCase({ impl: 'scalar' }) })])
  expect(JSON.parse(exportSession('bencher', session))).toEqual({
    'add/n=1000/f32/cpu/avx2/cpu/hot/t1': { latency: { value: 100, lower_value: 99, upper_value: 101.5 } },
    'add/n=1000/f32/cpu/avx2/cpu/cold/t1': { latency: { value: 7 } },
  })
})

it('and the action has the same benchmarks under the same names, each once', () => {
  for (let seed = 0; seed < 100; seed++) {
    const file = randomSession(seed)
    const names = Object.keys(JSON.parse(exportSession('bencher', file)) as object)
    const entries = JSON.parse(exportSession('github-action-benchmark', file)) as { name: string; unit: string; value: number }[]
    expect(entries.map(({ name }) => name).sort()).toEqual(names.sort())
    for (const { unit, value } of entries) expect([unit, typeof value]).toEqual(['ns', 'number'])
  }
})
