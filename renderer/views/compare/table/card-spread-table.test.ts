import { mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { expect, it } from 'vitest'
import { testCase } from '@core/testing'
import { installMockApi } from '../../../dev/mock-api'
import CardSpreadTable from './CardSpreadTable.vue'

const spread = (n: number) => ({ model: 'Test GPU', case: testCase({ params: { n }, device: 'cuda' }), cards: [{ machine: 'n1', device: 'n1/cuda:0', medianNs: 100 }, { machine: 'n2', device: 'n2/cuda:0', medianNs: 108 }], meanNs: 104, ciNs: 5.2, deviation: 0.054, range: 0.08 })

it('shows how much the cards of one model differ, filtered by words, and saves it with numbers in full', async () => {
  setActivePinia(createPinia())
  const api = installMockApi({ empty: true })
  const wrapper = mount(CardSpreadTable, { props: { cards: [spread(1000), spread(2000)], name: 'Fleet', search: '' } })
  const table = () => wrapper.findAll('tbody tr').map((row) => row.findAll('td').map((cell) => cell.text()))
  expect(table()).toEqual([[expect.stringContaining('add 1000'), 'Test GPU', '2', '104 ns', '±5.00 %', '5.40 %', '+8.00 %', 'n1/cuda:0', 'n2/cuda:0'], expect.any(Array)])
  await wrapper.setProps({ search: '2000 gpu' })
  expect(table()).toHaveLength(1)
  await wrapper.findAll('button').find((button) => button.text().startsWith('CSV'))!.trigger('click')
  const saved = api.calls.at(-1)!.request as { name: string; kind: string; text: string }
  expect([saved.name, saved.kind, saved.text.split('\n')[1]]).toEqual(['Fleet, cards', 'csv', expect.stringMatching(/^add 2000 .*,Test GPU,2,104,5\.2,0\.054,0\.08,n1\/cuda:0 n2\/cuda:0,100 108$/)])
})
