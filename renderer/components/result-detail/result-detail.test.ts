import { flushPromises, mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Result } from '@core/result'
import { blockOf } from '@core/session/rows'
import { MockApi } from '../../dev/mock-api'
import { ResultRows } from '../../stores/rows/result-rows'
import ResultDetail from './ResultDetail.vue'

const samplesNs = Array.from({ length: 40 }, (_, i) => 1000 + i)
const measured: Result = {
  id: 'r', case: { op: 'add', params: { n: 64 }, dtype: 'f32', backend: 'cuda', impl: 'kernel', device: 'cuda:0', mode: 'hot' }, status: 'ok', startedAt: '2026-01-01T00:00:00Z', wallMs: 1, measuredMs: 1, bytes: 768, flops: 64,
  samplesNs, summary: { count: 40, medianNs: 1020, minNs: 1000, maxNs: 1040, meanNs: 1020, mildOutliers: 0, severeOutliers: 0 }, seed: 1, grade: 'A', converged: true, stopReason: '40 samples taken',
}

async function open(result: Result, session: readonly Result[] = [result], repeats?: number) {
  window.opscope = new (class extends MockApi {
    override async invoke<C extends Parameters<MockApi['invoke']>[0]>(channel: C, request: never) {
      return channel === 'sessions:result' ? { ok: true as const, value: result as never } : super.invoke(channel, request)
    }
  })({ empty: true })
  const rows = new ResultRows()
  rows.append(blockOf(session, 0))
  const wrapper = mount(ResultDetail, { props: { id: 'r', how: { preset: 'standard', ...(repeats === undefined ? {} : { repeats }) }, ceilings: [], rows }, global: { stubs: { SampleDistribution: true, ChartFrame: true } } })
  await flushPromises()
  return wrapper
}
beforeEach(() => setActivePinia(createPinia()))

describe('details of a result', () => {
  it('say of a clean one that it is clean, and by which rule it ended', async () => {
    const text = (await open(measured)).text()
    expect(text).toContain('Grade A: converged, low noise')
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
    expect(text).toContain('all samples: too few are unlabelled')
  })

  it('give the driver\'s words of a device that was lost', async () => {
    const text = (await open({ ...measured, status: 'failed', summary: undefined, samplesNs: [], grade: undefined, message: 'The device was lost.', detail: 'GPU is off the bus (79)' })).text()
    expect(text).toContain('The device was lost.')
    expect(text).toContain('GPU is off the bus (79)')
  })
})

it('details have their rates in the units of the table', async () => {
  const others = [2, 3].map((i): Result => ({ ...measured, id: `r${i}`, bytes: 76_800_000, flops: 6_400_000 }))
  expect((await open(measured)).text()).toContain('753 MB/s')
  const text = (await open(measured, [measured, ...others])).text()
  expect(text).toContain('0.001 TB/s · 0.0001 TFLOP/s')
  expect(text).not.toMatch(/[MG]B\/s/)
})

describe('runs of a case', () => {
  const run = (i: number, medianNs: number, change: Partial<Result> = {}): Result => ({ ...measured, id: i === 1 ? 'r' : `r${i}`, run: i - 1, summary: { ...measured.summary!, medianNs, ciLowNs: medianNs - 1, ciHighNs: medianNs + 1 }, ...change })
  const other = run(9, 5000, { case: { ...measured.case, params: { n: 65 } } })
  const three = [run(1, 1000), run(2, 1010), run(3, 1040)]
  const HINT = '[data-testid="repeats-hint"]'

  it('three or more say how far they differ: median, interval and count, each run in the figure, and what the intervals mean', async () => {
    const wrapper = await open(three[0]!, [...three, other])
    expect(wrapper.text()).toMatch(/Over runs.*Median over runs1.01 µs.*95 % CI966 ns to 1.07 µs \(±5\.\d* %\).*Runs3/s)
    expect(wrapper.text()).toContain('The interval of one run speaks about the tens of milliseconds')
    expect(wrapper.get('chart-frame-stub[label]').attributes('label')).toContain('Medians of 3 runs in the order taken: 1.00 µs, 1.01 µs, 1.04 µs.')
    expect(wrapper.find(HINT).exists()).toBe(false)
  })

  it('wrong and failed ones do not count', async () => {
    const wrapper = await open(three[0]!, [...three, run(4, 3000, { status: 'wrong' }), run(5, 3000, { status: 'failed', summary: undefined })])
    expect(wrapper.text()).toContain('Runs3')
    const two = await open(three[0]!, [run(1, 1000), run(2, 1010), run(3, 1040, { status: 'wrong' })])
    expect(two.text()).not.toContain('Over runs')
  })

  it('one or two get a word on repeats, and no interval', async () => {
    const one = await open(three[0]!, [three[0]!, other])
    expect(one.text()).not.toContain('Over runs')
    expect(one.get(HINT).text()).toBe('One run does not show the variation between runs. Set “Repeat sweep” in Run to 3 or more.')
    expect((await open(three[0]!, three.slice(0, 2))).get(HINT).text()).toMatch(/^Two runs do not/)
  })

  it.each<[string, Result, number?]>([
    ['that was wrong', run(1, 1000, { status: 'wrong', message: 'wrong' })], ['whose repeats are coming', run(1, 1000), 5],
    ['measured interleaved', run(1, 1000, { block: { pair: 'p', quad: 0, place: 0 } })], ['that no command can measure again', run(1, 1000, { case: { ...measured.case, op: 'theirs' } })],
  ])('no word on repeats for a case %s', async (_name, result, repeats) => {
    expect((await open(result, [result], repeats)).find(HINT).exists()).toBe(false)
  })
})
