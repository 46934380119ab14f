import { flushPromises, mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Result } from '@core/result'
import { MockApi } from '../../dev/mock-api'
import ResultDetail from './ResultDetail.vue'

const samplesNs = Array.from({ length: 40 }, (_, i) => 1000 + i)
const measured: Result = {
  id: 'r', case: { op: 'add', params: { n: 64 }, dtype: 'f32', backend: 'cuda', impl: 'kernel', device: 'cuda:0', mode: 'hot' }, status: 'ok', startedAt: '2026-01-01T00:00:00Z', wallMs: 1, measuredMs: 1, bytes: 768, flops: 64,
  samplesNs, summary: { count: 40, medianNs: 1020, minNs: 1000, maxNs: 1040, meanNs: 1020, mildOutliers: 0, severeOutliers: 0 }, seed: 1, grade: 'A', converged: true, stopReason: '40 samples taken',
}

async function open(result: Result) {
  window.opscope = new (class extends MockApi {
    override async invoke<C extends Parameters<MockApi['invoke']>[0]>(channel: C, request: never) {
      return channel === 'sessions:result' ? { ok: true as const, value: result as never } : super.invoke(channel, request)
    }
  })({ empty: true })
  const wrapper = mount(ResultDetail, { props: { id: 'r', how: { preset: 'standard' }, ceilings: [] }, global: { stubs: { SampleDistribution: true } } })
  await flushPromises()
  return wrapper
}
beforeEach(() => setActivePinia(createPinia()))

describe('details of a result', () => {
  it('say of a clean one that it is clean, and by which rule it ended', async () => {
    const text = (await open(measured)).text()
    expect(text).toContain('Grade A: clean and converged')
    expect(text).toContain('40 samples taken')
    expect(text).not.toContain('Labelled samples')
  })

  it('say at the top, and once, that no sample is clean, with every reason and count', async () => {
    const message = 'No clean sample: throttled (power limit) in 40 of 40.'
    const wrapper = await open({ ...measured, grade: 'C', message, gradeReasons: [message, 'Noisy.'], labels: [{ kind: 'throttled', reason: 'power limit', first: 0, count: 40 }] })
    const text = wrapper.text()
    expect(text.split(message)).toHaveLength(2)
    expect(wrapper.findAll('li').map((li) => li.text())).toEqual(['Noisy.'])
    expect(text).toContain('40 of 40: power limit')
    expect(text).toContain('all, because too few are clean')
  })

  it('give the driver\'s words of a device that was lost', async () => {
    const text = (await open({ ...measured, status: 'failed', summary: undefined, samplesNs: [], grade: undefined, message: 'The device was lost.', detail: 'GPU is off the bus (79)' })).text()
    expect(text).toContain('The device was lost.')
    expect(text).toContain('GPU is off the bus (79)')
  })
})
