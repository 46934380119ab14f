import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'
import { facetsOf, type CompareCell, type Comparison, type CompareRequest } from '@core/compare'
import { installMockApi, type MockApi } from '../../dev/mock-api'
import { useComparison } from '../../stores/comparison'
import { useRun } from '../../stores/run'
import { useSessions } from '../../stores/sessions'
import { useSettings } from '../../stores/settings'
import { testCase } from '@core/testing'
import CompareView from './CompareView.vue'

// There is no canvas here; what is drawn is tested in renderer/charts/forest.
vi.mock('vue-echarts', () => ({
  default: defineComponent({
    name: 'VChart',
    props: { option: Object },
    emits: ['click', 'mouseover', 'mouseout'],
    setup: (_props, { expose }) => {
      expose({ dispatchAction: () => undefined })
      return () => null
    },
  }),
}))

let api: MockApi
let wrapper: VueWrapper
/** What main answers; without it the mock compares its invented sessions. */
let answer: ((request: CompareRequest) => Comparison) | undefined
/** What `answer` was asked. */
let asked: CompareRequest[]

beforeEach(async () => {
  vi.useFakeTimers()
  // Rows are drawn for the height of the table, which happy-dom does not lay out.
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(600)
  setActivePinia(createPinia())
  api = installMockApi({ pace: 1 })
  const invoke = api.invoke.bind(api)
  api.invoke = (channel, request) => {
    if (channel !== 'compare:run' || !answer) return invoke(channel, request)
    asked.push(request as CompareRequest)
    return Promise.resolve({ ok: true, value: answer(request as CompareRequest) as never })
  }
  answer = undefined
  asked = []
  await useSettings().load()
  await useRun().start()
  await useSessions().load()
})
afterEach(() => {
  wrapper.unmount()
  vi.restoreAllMocks()
  vi.useRealTimers()
})

async function open(path: string): Promise<void> {
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/compare', name: 'compare', component: CompareView }, { path: '/history', name: 'history', component: { render: () => null } }] })
  await router.push(path)
  wrapper = mount(CompareView, { global: { plugins: [router] }, attachTo: document.body })
  await flushPromises()
  await flushPromises()
}
const rows = () => wrapper.findAll('[role=rowgroup] [role=row]')
const select = (label: string) => wrapper.find<HTMLSelectElement>(`select[aria-label="${label}"]`)
const button = (text: string) => wrapper.findAll('button').find((each) => each.text().includes(text))!

const cell = (change: Partial<CompareCell>): CompareCell => ({ resultId: 'side', medianNs: 1030, speedup: 1 / 1.03, speedupLow: 1 / 1.04, speedupHigh: 1 / 1.02, verdict: 'slower', p: 0.0002, adjustedP: 0.0004, ...change })
/** One session with one row per cell, the baseline `cpu scalar`. */
const comparison = (cells: CompareCell[], change: Partial<Comparison> = {}): Comparison => ({
  sessions: ['cpu scalar', 'cpu avx2'].map((value) => ({ id: 'session-2', name: 'Driver 570', createdAt: '2026-01-01T00:00:00Z', value })), threshold: 0.01,
  rows: cells.map((side, i) => ({ caseId: `case-${i}`, case: testCase({ params: { n: i + 1 } }), cells: [{ resultId: `base-${i}`, medianNs: 1000 }, side] })),
  unmatched: [], overall: [null, { speedup: 1 / 1.03, cases: cells.length }], noiseFloors: [], environmentDifferences: [], opThresholds: {}, facets: facetsOf(cells.map((_, i) => testCase({ params: { n: i + 1 } }))), ...change,
})

describe('inside one session', () => {
  it('starts with the first axis along which there is something to compare, and takes another', async () => {
    await open('/compare?within=session-2')
    expect(select('Compare by').element.value).toBe('impl')
    expect(wrapper.text()).toContain('Baseline: cuda kernel')
    await select('Compare by').setValue('dtype')
    await flushPromises()
    expect(api.calls.at(-1)).toEqual({ channel: 'compare:run', request: { sessionId: 'session-2', axis: 'dtype' } })
    expect(wrapper.text()).toContain('Baseline: f32')
    await select('Baseline').setValue('bf16')
    await flushPromises()
    expect(api.calls.at(-1)!.request).toEqual({ sessionId: 'session-2', axis: 'dtype', baseline: 'bf16' })
  })

  it('says what is the matter where nothing differs', async () => {
    await open('/compare?within=session-2&axis=mode')
    expect(wrapper.text()).toContain('All its cases are hot')
  })

  it('shows cards of one model in place of the cases, for as long as there are any', async () => {
    answer = () => comparison([cell({})], { cards: [] })
    await open('/compare?within=session-2&axis=host')
    await button('Cards 0').trigger('click')
    expect(wrapper.get('[aria-label="Cards of one model"]').text()).toContain('No case was measured on two cards of one model.')
    answer = () => comparison([cell({})])
    await select('Compare by').setValue('dtype')
    await flushPromises()
    expect([wrapper.find('[aria-label="Cards of one model"]').exists(), rows().length]).toEqual([false, 1])
  })

  it('shows all that stands behind a verdict by keyboard', async () => {
    answer = () => comparison([cell({}), cell({ verdict: 'ambiguous', doubt: 'Slower in time but same in SM cycles.', cyclesSpeedup: 1, cyclesLow: 0.99, cyclesHigh: 1.01, quads: 12 }), cell({ runs: 5, baselineRuns: 4 })])
    await open('/compare?within=session-2&axis=impl')
    const table = wrapper.find('[role=table]')
    await table.trigger('keydown', { key: 'ArrowDown' })
    const details = () => wrapper.find('[aria-label="Details of the comparison"]').text()
    expect(details()).toMatch(/Corrected p\s*< 0.001/)
    await table.trigger('keydown', { key: 'ArrowDown' })
    expect(details()).toContain('Slower in time but same in SM cycles.')
    expect(details()).toContain('12 ABBA quads')
    expect(details()).toMatch(/In SM cycles\s*1.000x, 95 % CI 0.990 to 1.010/)
    await table.trigger('keydown', { key: 'End' })
    expect(details()).toMatch(/Runs\s*5, baseline 4/)
    await table.trigger('keydown', { key: 'Escape' })
    expect(wrapper.find('[aria-label="Details of the comparison"]').exists()).toBe(false)
  })

  it('shows the energy ratio of a case that has one, and its interval in the details', async () => {
    answer = () => comparison([cell({ joulesPerCall: 0.1457, energy: { ratio: 0.909, low: 0.905, high: 0.913, verdict: 'less' } }), cell({})])
    await open('/compare?within=session-2&axis=impl')
    expect(wrapper.find('[role=table]').text()).toContain('Energy ratio')
    expect(rows().map((row) => row.text().includes('0.909x ▼ less'))).toEqual([true, false])
    expect(wrapper.find('[data-testid=comparison-answer]').text()).toContain('uses 0.909x the energy per call of cpu scalar')
    await wrapper.find('[role=table]').trigger('keydown', { key: 'ArrowDown' })
    expect(wrapper.find('[aria-label="Details of the comparison"]').text()).toMatch(/Energy ratio\s*0\.909x, 95 % CI 0\.905 to 0\.913, ▼ less/)
    wrapper.unmount()
    answer = () => comparison([cell({})])
    await open('/compare?within=session-2&axis=impl')
    expect(wrapper.find('[role=table]').text()).not.toContain('Energy ratio')
  })

  it('names sides in its sentence as the chips do: short', async () => {
    answer = () => comparison([], { sessions: comparison([]).sessions.map((session) => ({ ...session, value: `${session.value ?? ''} Intel(R) Xeon(R) Processor` })) })
    await open('/compare?within=session-2&axis=impl')
    expect(wrapper.find('[data-testid=comparison-answer]').text()).toMatch(/^[^(]*Intel Xeon and [^(]*have no case in common/)
  })

  it('marks verdicts below the noise floor of their device, and no others', async () => {
    const floor = (device: string, ratioP95: number) => ({ backend: device, device, deviceName: `The ${device}`, measuredAt: '2026-01-01T00:00:00Z', pairs: 24, falseVerdicts: 0, ratioP50: 0.002, ratioP95, sessionId: 's' })
    answer = () => comparison([cell({}), cell({ speedup: 1 / 1.2 }), cell({ verdict: 'ambiguous' })], { noiseFloors: [floor('cpu', 0.05), floor('cuda', 0.5)] })
    await open('/compare?within=session-2&axis=impl')
    expect(rows().map((row) => row.find('[aria-label="below the noise floor"]').exists())).toEqual([true, false, false])
    expect(wrapper.find('[data-testid=noise-floor]').text()).toContain('! 1 verdict is below it')
  })

  it('measures what is unclear and shows the new verdicts when that run has ended', async () => {
    answer = () => comparison([cell({}), cell({ verdict: 'ambiguous', resultId: 'unclear' })])
    await open('/compare?within=session-2&axis=impl')
    await select('Cases to show').setValue('ambiguous')
    expect(rows()).toHaveLength(1)
    await button('Resolve unclear cases (1)').trigger('click')
    await flushPromises()
    expect(api.calls.find(({ channel }) => channel === 'compare:resolve')!.request).toEqual({ sessionId: 'session-2', pairs: [{ baseline: 'base-1', side: 'unclear' }] })
    expect(wrapper.find('[role=progressbar]').exists()).toBe(true)
    answer = () => comparison([cell({}), cell({ verdict: 'same', quads: 8 })])
    await button('Stop').trigger('click')
    await flushPromises()
    expect(wrapper.find('[role=progressbar]').exists()).toBe(false)
    // The filter would hide everything now.
    expect(rows()).toHaveLength(2)
    expect(rows()[1]!.text()).toContain('= same')
  })

  it('says why unclear cases of another machine cannot be resolved here', async () => {
    answer = () => comparison([cell({ verdict: 'ambiguous', resultId: 'unclear' })])
    const invoke = api.invoke.bind(api)
    const reason = 'New measurements cannot join this session: its device NVIDIA H200 (cuda:0) is not on this machine. Measure a new session instead.'
    api.invoke = (channel, request) => (channel === 'compare:can-resolve' ? Promise.resolve({ ok: true, value: { reason } as never }) : invoke(channel, request))
    await open('/compare?within=session-2&axis=impl')
    await button('Resolve unclear cases (1)').trigger('click')
    await flushPromises()
    expect(document.body.textContent).toContain(reason)
    expect(api.calls.some(({ channel }) => channel === 'compare:resolve')).toBe(false)
  })

  it('asks again with another threshold, once main knows it', async () => {
    await open('/compare?within=session-2&axis=impl')
    await select('Threshold').setValue('0.05')
    await flushPromises()
    expect(api.calls.slice(-2).map(({ channel }) => channel)).toEqual(['settings:set', 'compare:run'])
    expect(select('Threshold').element.value).toBe('0.05')
  })
})

describe('the plot of a comparison', () => {
  const plot = () => wrapper.find('[aria-label="Forest plot"]')
  const details = () => wrapper.find('[aria-label="Details of the comparison"]')
  const drawn = () => (wrapper.findComponent({ name: 'VChart' }).props('option') as { yAxis: { data: string[] }[] }).yAxis[0]!.data
  beforeEach(async () => {
    answer = () => comparison([cell({ resultId: 'first' }), cell({ resultId: 'second', speedup: 1.2, verdict: 'faster' })])
    await open('/compare?within=session-2&axis=impl')
    await vi.dynamicImportSettled()
    await flushPromises()
  })

  it('stands under the answer in one sentence', () => {
    expect(wrapper.find('[data-testid=comparison-answer]').text()).toMatch(/^cpu avx2is not clearly faster or slower thancpu scalar\(geometric mean 1\.\d+x over 2 cases.*▲ 1 faster▼ 1 slower= 0 same\? 0 unclear$/)
    expect(wrapper.find('[role=img]').attributes('aria-label')).toContain('Forest plot of speedups. cpu avx2 is ')
    expect(button('Slower cases 1').exists()).toBe(true)
  })

  it('goes by keyboard from operations to cases and on to the table', async () => {
    await plot().trigger('keydown', { key: 'Home' })
    expect(wrapper.find('p[role=status]').text()).toMatch(/^add, open\. cpu avx2 is /)
    await plot().trigger('keydown', { key: 'ArrowDown' })
    await flushPromises()
    expect(rows().map((row) => row.attributes('aria-selected'))).toEqual(['true', 'false'])
    await plot().trigger('keydown', { key: 'ArrowDown' })
    await flushPromises()
    expect(rows().map((row) => row.attributes('aria-selected'))).toEqual(['false', 'true'])
    expect(details().text()).toContain('1.200x')
    await plot().trigger('keydown', { key: 'Enter' })
    expect(document.activeElement).toBe(wrapper.find('[role=table]').element)
    await plot().trigger('keydown', { key: 'ArrowLeft' })
    await plot().trigger('keydown', { key: 'ArrowLeft' })
    expect(drawn()).toEqual(['group add'])
    await plot().trigger('keydown', { key: 'ArrowRight' })
    expect(drawn()).toEqual(['group add', 'case-0', 'case-1'])
  })

  it('takes a click on a mark to its row, and one on an operation to its cases', async () => {
    const chart = wrapper.findComponent({ name: 'VChart' })
    chart.vm.$emit('mouseover', { componentType: 'series', seriesIndex: 0, dataIndex: 0, value: [1, 1, 0, 0, 'first'] })
    await flushPromises()
    expect(rows()[0]!.classes()).toContain('bg-raised')
    chart.vm.$emit('click', { componentType: 'series', value: [1, 1, 0, 0, 'first'] })
    await flushPromises()
    expect(rows()[0]!.attributes('aria-selected')).toBe('true')
    chart.vm.$emit('click', { componentType: 'yAxis', value: 'group add' })
    await flushPromises()
    expect(drawn()).toEqual(['group add'])
  })
})

it('an error is told, with a way to try again', async () => {
  await open('/compare?within=gone&axis=impl')
  expect(wrapper.find('[role=alert]').text()).toContain('There is no session gone.')
  await button('Try again')!.trigger('click')
  expect(api.calls.filter(({ channel }) => channel === 'compare:run')).toHaveLength(2)
})

it('between sessions the button says why they cannot be interleaved', async () => {
  await open('/compare?ids=session-1,session-2')
  expect(rows().length).toBeGreaterThan(10)
  await button('Resolve unclear cases').trigger('click')
  await flushPromises()
  expect(document.body.textContent).toContain('Cases of different sessions cannot be interleaved')
  expect(api.calls.some(({ channel }) => channel === 'compare:resolve')).toBe(false)
})

describe('many cases', () => {
  const effects = [['softmax', 1.2, 'slower'], ['softmax', 1.05, 'slower'], ['add', 0.8, 'faster'], ['gelu', 1, 'same']] as const
  const many = (change: Partial<Comparison> = {}) => {
    const made = comparison(effects.map(([, time, verdict]) => cell({ speedup: 1 / time, verdict, grade: 'B' })), { versions: true, ...change })
    return { ...made, rows: made.rows.map((row, i) => ({ ...row, case: testCase({ op: effects[i]![0], params: { n: i + 1 } }) })) }
  }
  const texts = () => rows().map((row) => row.text())
  const table = () => wrapper.find('[role=table]')
  beforeEach(() => {
    answer = () => many()
  })

  it('are narrowed to differences and sorted by effect', async () => {
    await open('/compare?ids=session-1,session-2')
    await select('Cases to show').setValue('different')
    await select('Order of cases').setValue('effect')
    expect(rows().map((row) => row.findAll('[role=cell]')[3]!.text())).toEqual(['1.250x', '0.833x', '0.952x'])
  })

  it('are grouped under their means, which close and open by keyboard', async () => {
    await open('/compare?ids=session-1,session-2')
    await select('Group by').setValue('op')
    expect(rows()).toHaveLength(7)
    expect(texts()[0]).toMatch(/softmax\s*2 cases\s*mean of 2\s*0\.891x\s*▼ 2/)
    await table().trigger('keydown', { key: 'Home' })
    await table().trigger('keydown', { key: 'ArrowLeft' })
    expect(rows()).toHaveLength(5)
    await table().trigger('keydown', { key: 'Enter' })
    expect(rows()).toHaveLength(7)
    await table().trigger('keydown', { key: '/' })
    expect(rows().map((row) => row.find('[aria-expanded]').attributes('aria-expanded'))).toEqual(['false', 'false', 'false'])
  })

  it('list their regressions, each a way to its row whatever hides it', async () => {
    await open('/compare?ids=session-1,session-2')
    const panel = () => wrapper.find('aside[aria-label="Regressions"]')
    if (!panel().exists()) await button('Regressions 2').trigger('click')
    expect(panel().findAll('li button').map((item) => item.text())).toEqual([expect.stringContaining('0.833x'), expect.stringContaining('0.952x')])
    await select('Group by').setValue('op')
    await table().trigger('keydown', { key: '/' })
    await wrapper.find('input[type=search]').setValue('add')
    await panel().findAll('li button')[1]!.trigger('click')
    expect(wrapper.find('[role=row][aria-selected=true]').text()).toContain('0.952x')
    expect(wrapper.find('[aria-label="Details of the comparison"]').text()).toMatch(/Grades\s*B, baseline none/)
  })

  it('are held to thresholds per operation, which are settings', async () => {
    await open('/compare?ids=session-1,session-2')
    if (!wrapper.find('aside').exists()) await button('Regressions 2').trigger('click')
    const field = () => wrapper.find<HTMLInputElement>('input[aria-label="Threshold of softmax in percent"]')
    expect(field().attributes('placeholder')).toBe('1')
    await field().setValue('7.5')
    await flushPromises()
    expect(useSettings().values.compareOpThresholds).toEqual({ softmax: 0.075 })
    expect(asked).toHaveLength(2)
    // The list stays where it is edited, also when a threshold empties it.
    answer = () => ({ ...many(), rows: many().rows.slice(2) })
    await useComparison().reload()
    expect(wrapper.find('aside').text()).toContain('No case is slower by more than its threshold.')
    answer = () => many()
    await useComparison().reload()
    await field().setValue('')
    await flushPromises()
    expect(useSettings().values.compareOpThresholds).toEqual({})
  })

  it('are compared in part where a subset is chosen', async () => {
    await open('/compare?ids=session-1,session-2')
    await useComparison().narrow({ op: ['softmax'] })
    expect(asked.at(-1)).toEqual({ sessionIds: ['session-1', 'session-2'], filter: { op: ['softmax'] } })
    expect(button('Only softmax')?.isVisible()).toBe(true)
  })
})

it('a comparison that takes long shows how far it is, and can be given up', async () => {
  let finish: (comparison: Comparison) => void = () => undefined
  const invoke = api.invoke.bind(api)
  api.invoke = (channel, request) => (channel === 'compare:run' ? new Promise((resolve) => (finish = (value) => resolve({ ok: true, value: value as never }))) : invoke(channel, request))
  await open('/compare?ids=session-1,session-2')
  api.emit('compare:progress', { done: 1200, total: 5000 })
  await flushPromises()
  expect(wrapper.find('[role=progressbar]').attributes('aria-valuenow')).toBe('24')
  expect(wrapper.text()).toContain('1,200 of 5,000 cases')
  await button('Cancel').trigger('click')
  await flushPromises()
  expect(api.calls.at(-1)!.channel).toBe('compare:cancel')
  expect(wrapper.find('[role=progressbar]').exists()).toBe(false)
  // An answer that was on its way already does not come back.
  finish(comparison([cell({})]))
  await flushPromises()
  expect(rows()).toHaveLength(0)
  expect(wrapper.text()).toContain('The comparison was stopped.')
})
