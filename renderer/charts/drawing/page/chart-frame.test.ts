// @vitest-environment happy-dom
import { mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { defineComponent, nextTick } from 'vue'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import ChartFrame from './ChartFrame.vue'

/** Says which picture the library had when it was told what. */
const told: { drawn: unknown; action: unknown }[] = []
vi.mock('vue-echarts', () => ({
  default: defineComponent({
    name: 'VChart',
    props: { option: Object },
    emits: ['mouseover', 'mouseout', 'click', 'legendselectchanged'],
    setup(props, { expose }) {
      expose({ dispatchAction: (action: unknown) => told.push({ drawn: props.option?.['name'], action }) })
      return () => null
    },
  }),
}))

const pictureOf = (name: string, ...ids: string[]) => ({ name, xAxis: {}, tooltip: { trigger: 'item' }, series: [{ data: ids.map((id, i) => ({ value: [i, i, 0, 0, id] })) }] })
const frame = () => mount(ChartFrame, { props: { option: pictureOf('first', 'a', 'b', 'c'), empty: '', label: 'Chart', name: 'chart', csv: () => '' } })
const settle = async () => {
  await nextTick()
  await nextTick()
}
beforeEach(() => setActivePinia(createPinia()))
afterEach(() => void (told.length = 0))

it('finds the tooltip of a hovered row again by its result when the picture changes', async () => {
  const wrapper = frame()
  await wrapper.setProps({ hovered: 'b' })
  await settle()
  expect(told.at(-1)).toEqual({ drawn: 'first', action: { type: 'showTip', seriesIndex: 0, dataIndex: 1 } })
  told.length = 0
  // As when the row is clicked and the chart narrows to its operation, or when results arrive.
  await wrapper.setProps({ option: pictureOf('second', 'x', 'y', 'b') })
  await settle()
  expect(told.map(({ action }) => action)).toEqual([{ type: 'showTip', seriesIndex: 0, dataIndex: 2 }])
  expect(told.at(-1)!.drawn).toBe('second')
  await wrapper.setProps({ option: pictureOf('third', 'x') })
  await settle()
  expect(told.at(-1)).toEqual({ drawn: 'third', action: { type: 'hideTip' } })
  wrapper.unmount()
})

it('does so for the result under the pointer, and for none where nothing is hovered', async () => {
  const wrapper = frame()
  await wrapper.setProps({ option: pictureOf('second', 'c', 'a') })
  await settle()
  expect(told.filter(({ action }) => (action as { type: string }).type !== 'takeGlobalCursor')).toEqual([])
  const chart = wrapper.findComponent({ name: 'VChart' })
  // The library looks at the same pixel again unless it is told to leave tooltips alone.
  expect(chart.props('option')).toMatchObject({ tooltip: { triggerOn: 'none' } })
  chart.vm.$emit('mouseover', { componentType: 'series', seriesIndex: 0, dataIndex: 1, value: [1, 1, 0, 0, 'a'] })
  expect(told.at(-1)!.action).toEqual({ type: 'showTip', seriesIndex: 0, dataIndex: 1 })
  expect(wrapper.emitted('hover')).toEqual([['a']])
  await wrapper.setProps({ option: pictureOf('third', 'a', 'c') })
  await settle()
  expect(told.at(-1)).toEqual({ drawn: 'third', action: { type: 'showTip', seriesIndex: 0, dataIndex: 0 } })
  chart.vm.$emit('mouseout', {})
  expect(told.at(-1)!.action).toEqual({ type: 'hideTip' })
  told.length = 0
  await wrapper.setProps({ option: pictureOf('fourth', 'c', 'a') })
  await settle()
  expect(told).toEqual([])
  wrapper.unmount()
})

it('isolates the line or the name in the legend that is clicked, until it is clicked again or the view is reset', async () => {
  const lines = { name: 'first', xAxis: {}, yAxis: {}, series: ['fast', 'slow', 'slow'].map((name) => ({ name, data: [] })) }
  const wrapper = mount(ChartFrame, { props: { option: lines, empty: '', label: 'Chart', name: 'chart', csv: () => '' } })
  const chart = wrapper.findComponent({ name: 'VChart' })
  const shown = () => (chart.props('option') as { legend?: { selected?: Record<string, boolean> } }).legend?.selected
  expect(shown()).toBeUndefined()
  chart.vm.$emit('click', { componentType: 'series', seriesName: 'slow' })
  await nextTick()
  expect(shown()).toEqual({ fast: false, slow: true })
  chart.vm.$emit('legendselectchanged', { name: 'fast' })
  await nextTick()
  expect(shown()).toEqual({ fast: true, slow: false })
  chart.vm.$emit('legendselectchanged', { name: 'fast' })
  await nextTick()
  expect(shown()).toEqual({ fast: true, slow: true })
  chart.vm.$emit('click', { componentType: 'series', seriesName: 'slow' })
  ;(wrapper.vm as unknown as { reset: () => void }).reset()
  await nextTick()
  expect(shown()).toEqual({ fast: true, slow: true })
  // A click on a mark is about its result, and isolates nothing.
  chart.vm.$emit('click', { componentType: 'series', seriesName: 'slow', value: [1, 1, 0, 0, 'a'] })
  await nextTick()
  expect(shown()).toEqual({ fast: true, slow: true })
  expect(wrapper.emitted('pick')).toEqual([['a', false]])
  wrapper.unmount()
})
