import { describe, expect, it } from 'vitest'
import { nativeBackends } from '../../main/backends/native'
import { LIMITS, SUM_LIMIT, sumErrors, worstOf } from './accuracy'

/** A part of what `npm run bench -- accuracy` samples; the same inputs in every run. */
const cpu = nativeBackends().backends.find(({ id }) => id === 'cpu')!
const [device] = await cpu.devices()

describe.each(device!.impls.filter(({ id, available }) => available.ok && ['scalar', 'sse2', 'avx2', 'avx512', 'neon'].includes(id)))('$id', (impl) => {
  it.each(LIMITS)('$op is off by at most $limit ($unit) from float64', async (rule) => {
    expect((await worstOf(cpu, device!, impl, rule, 60_000, 1)).error).toBeLessThanOrEqual(rule.limit)
  })
})

it('sums 16M elements within one millionth', async () => {
  for (const error of await sumErrors(cpu, device!, device!.impls.find(({ preferred }) => preferred)!, 1, device!.threads.at(-1)!)) expect(error).toBeLessThanOrEqual(SUM_LIMIT)
})
