import { mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { expect, it } from 'vitest'
import type { CasePoint } from '@core/analysis/case-history'
import { installMockApi } from '../../dev/mock-api'
import CasePoints from './CasePoints.vue'

it('has intervals in one style, and a dash with its reason where there is nothing', () => {
  setActivePinia(createPinia())
  installMockApi({ empty: true })
  const point = (i: number, change: Partial<CasePoint> = {}): CasePoint => ({ sessionId: `s${i}`, name: `Night ${i}`, createdAt: `2026-03-0${i}T00:00:00Z`, resultId: `r${i}`, medianNs: 1000, results: 1, place: [], ...change })
  const wrapper = mount(CasePoints, {
    props: { points: [point(1), point(2, { name: 'add on Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz', ciLowNs: 990, ciHighNs: 1010, grade: 'A' })], changes: { changes: [], outliers: [], segments: [] }, places: [{ at: 1, facts: ['Processor: AMD EPYC 9554 64-Core Processor → Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz'] }] },
  })
  const rows = wrapper.findAll('tbody tr').map((row) => row.findAll('td').map((cell) => cell.text()))
  expect(rows.map(([name]) => name)).toEqual(['add on Intel Xeon Gold 6338', 'Night 1'])
  expect(rows.map((cells) => cells.slice(3))).toEqual([['±1.00 %', 'A', '–', 'Processor: AMD EPYC 9554 → Intel Xeon Gold 6338'], ['–', '–', '–', '–']])
  expect(wrapper.find('[title="Too few samples for a CI"]').text()).toBe('–')
  expect(wrapper.find('[title="Change detection needs at least 4 sessions"]').text()).toBe('–')
})
