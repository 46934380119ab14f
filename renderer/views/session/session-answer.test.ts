import { mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, it } from 'vitest'
import { testCase, testResult } from '@core/testing'
import { blockOf } from '@core/session/rows'
import { installMockApi } from '../../dev/mock-api'
import { ResultRows } from '../../stores/rows/result-rows'
import SessionAnswer from './SessionAnswer.vue'

beforeEach(() => {
  setActivePinia(createPinia())
  installMockApi({ empty: true })
})

/** As many sizes as it takes, each measured by two implementations. */
function rowsOf(sizes: number): ResultRows {
  const rows = new ResultRows()
  rows.append(blockOf(Array.from({ length: sizes }, (_, n) => ['scalar', 'avx2'].map((impl) => testResult({ id: `${impl}${n}`, case: testCase({ impl, params: { n: n + 1 } }) }))).flat(), 0))
  return rows
}
const answerOf = (rows: ResultRows) => mount(SessionAnswer, { props: { rows }, global: { stubs: { UiPopover: true, RouterLink: true } } })

it('has the answer of a small session at once', () => {
  const wrapper = answerOf(rowsOf(3))
  expect(wrapper.find('[data-testid=answer-coming]').exists()).toBe(false)
  expect(wrapper.get('[data-testid=session-answer]').text()).toMatch(/fastest in 1 of 1 operation/)
})

it('keeps the place of the answer of a large session until it is there, and gives it for all of its rows', async () => {
  const rows = rowsOf(1500)
  const wrapper = answerOf(rows)
  expect(wrapper.get('[data-testid=answer-coming]').text()).toBe('Comparing implementations…')
  await expect.poll(() => wrapper.find('[data-testid=session-answer]').exists()).toBe(true)
  expect(wrapper.find('[data-testid=answer-coming]').exists()).toBe(false)
  expect(wrapper.get('[data-testid=session-noise]').text()).toContain('3,000')
})
