import { flushPromises, mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it } from 'vitest'
import { getOp, OPS } from '@core/ops/registry'
import { provideCommand } from '../../commands/registry'
import { installMockApi } from '../../dev/mock-api'
import AttributePicker from './AttributePicker.vue'
import { groupTick, hasLeaf, leavesOf, setLeaf, setOps, tickOf, type Picked } from './picked-ops'
import OpTree from './OpTree.vue'

const sum = getOp('sum')
beforeEach(() => {
  setActivePinia(createPinia())
  installMockApi()
})

function open(picked: Picked) {
  const wrapper = mount(OpTree, { attachTo: document.body, props: { modelValue: picked, 'onUpdate:modelValue': (next: Picked) => wrapper.setProps({ modelValue: next }) } })
  const box = (label: string) => wrapper.find<HTMLInputElement>(`input[aria-label="${label}"]`)
  const value = () => (wrapper.props() as { modelValue: Picked }).modelValue
  return { wrapper, box, value }
}

describe('picked operations', () => {
  it('keep every variant of an operation that is picked whole', () => {
    const picked = setOps([], [sum], true)
    expect(tickOf(picked, sum)).toBe('all')
    expect(leavesOf(sum).every((leaf) => hasLeaf(picked, sum, leaf))).toBe(true)
  })

  it('drop an operation with its last variant, and bring it back with one', () => {
    let picked = setOps([], [sum], true)
    for (const leaf of leavesOf(sum)) picked = setLeaf(picked, sum, leaf, false)
    expect(picked).toEqual([])
    picked = setLeaf(picked, sum, { axis: 'axis', word: 'last' }, true)
    expect(picked).toEqual([{ op: 'sum', attributes: { axis: ['last'] } }])
    expect(tickOf(picked, sum)).toBe('some')
  })

  it('stand in the order of the registry however they were picked', () => {
    const picked = setOps(setOps([], [getOp('matmul')], true), [getOp('add')], true)
    expect(picked.map((entry) => entry.op)).toEqual(['add', 'matmul'])
  })
})

describe('OpTree', () => {
  it('folds families, with how many of each are picked, and unfolds one on demand', async () => {
    const { wrapper, box } = open([{ op: 'add' }])
    expect(box('add').exists()).toBe(false)
    const family = wrapper.findAll('[role=treeitem]').find((item) => item.text().startsWith('binary'))!
    expect(family.text()).toContain(`1/${OPS.filter((op) => op.family === 'binary').length}`)
    await wrapper.find('[aria-label="Unfold the binary family"]').trigger('click')
    expect(box('add').exists()).toBe(true)
  })

  it('shows a family as partly picked and picks the rest with one click', async () => {
    const { box, value } = open([{ op: 'add' }])
    expect(box('binary family').attributes('aria-checked')).toBe('mixed')
    await box('binary family').setValue(true)
    expect(value().map((entry) => entry.op)).toEqual(OPS.filter((op) => op.family === 'binary').map((op) => op.id))
    expect(groupTick(value(), OPS.filter((op) => op.family === 'binary'))).toBe('all')
    await box('binary family').setValue(false)
    expect(value()).toEqual([])
  })

  it('searches names, families and PyTorch calls, and All picks what is shown', async () => {
    const { wrapper, box, value } = open([])
    await wrapper.find('input[type=search]').setValue('nn.functional.layer_norm')
    expect(box('layer_norm').exists()).toBe(true)
    expect(box('matmul').exists()).toBe(false)
    await wrapper.findAll('button').find((button) => button.text() === 'All')!.trigger('click')
    expect(value().map((entry) => entry.op)).toContain('layer_norm')
    expect(value().map((entry) => entry.op)).not.toContain('matmul')
    await wrapper.find('input[type=search]').setValue('zebra')
    expect(wrapper.text()).toContain('No operation matches “zebra”')
  })

  it('shows only what is picked on demand', async () => {
    const { wrapper, box } = open([{ op: 'add' }, { op: 'softmax' }])
    await wrapper.findAll('button').find((button) => button.text() === 'Picked')!.trigger('click')
    expect(wrapper.findAll('[role=treeitem][aria-level="2"]').map((item) => item.attributes('aria-label'))).toEqual(['add', 'softmax'])
    expect(box('mul').exists()).toBe(false)
  })

  it('offers the choices of a picked operation', async () => {
    const { wrapper, box, value } = open([{ op: 'sum', attributes: { axis: ['all'] } }])
    await wrapper.find('[aria-label="Unfold the reduction family"]').trigger('click')
    expect(box('sum').attributes('aria-checked')).toBe('mixed')
    await box('sum axis last').setValue(true)
    expect(value()).toEqual([{ op: 'sum', attributes: { axis: ['all', 'last'] } }])
  })

  it('states what an operation computes and what a call costs', async () => {
    const { wrapper, box } = open([{ op: 'add' }])
    await wrapper.find('[aria-label="Unfold the binary family"]').trigger('click')
    await box('add').trigger('keydown', { key: '?' })
    await flushPromises()
    expect(document.body.textContent).toMatch(/torch\.add\(a, b\).*Minimum memory traffic\s*[\d.]+ MiB.*FLOP\/B/s)
    wrapper.unmount()
  })
})

describe('the keyboard in OpTree', () => {
  const at = () => document.activeElement?.getAttribute('aria-label')
  async function press(key: string): Promise<void> {
    document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
    await flushPromises()
  }

  it('walks, folds and unfolds; only one line is a tab stop', async () => {
    const { wrapper, box } = open([{ op: 'add' }])
    expect(wrapper.findAll('[role=treeitem] input[tabindex="0"]')).toHaveLength(1)
    box('binary family').element.focus()
    await press('ArrowRight')
    await press('ArrowRight')
    expect(at()).toBe('add')
    await press('ArrowDown')
    expect(at()).toBe(OPS.filter(({ family }) => family === 'binary')[1]!.id)
    expect(wrapper.findAll('[role=treeitem] input[tabindex="0"]').map((input) => input.attributes('aria-label'))).toEqual([at()])
    await press('ArrowLeft')
    expect(at()).toBe('binary family')
    await press('ArrowLeft')
    expect(box('add').exists()).toBe(false)
    await press('Home')
    expect(at()).toBe(`${OPS[0]!.family} family`)
    await press('End')
    expect(at()).toBe(`${OPS.at(-1)!.family} family`)
    wrapper.unmount()
  })

  it('a letter searches, Enter goes to the first match, and Enter there runs', async () => {
    const { wrapper, box } = open([])
    let runs = 0
    const end = provideCommand('run.start', () => runs++)
    box('binary family').element.focus()
    await press('s')
    const search = wrapper.find<HTMLInputElement>('input[type=search]')
    expect([search.element.value, document.activeElement === search.element]).toEqual(['s', true])
    await search.setValue('F.silu(x)')
    await press('Enter')
    expect([at(), runs]).toEqual(['silu', 0])
    await press('Enter')
    expect(runs).toBe(1)
    end()
    wrapper.unmount()
  })
})

describe('AttributePicker', () => {
  const show = (picked: Picked) => {
    const wrapper = mount(AttributePicker, { props: { modelValue: picked, 'onUpdate:modelValue': (next: Picked) => wrapper.setProps({ modelValue: next }) } })
    return { wrapper, value: () => (wrapper.props() as { modelValue: Picked }).modelValue }
  }

  it('has the attributes of the picked operations alone, each once for those that share it', () => {
    expect(show([{ op: 'add' }]).wrapper.text()).not.toContain('Epsilon')
    expect(show([{ op: 'layer_norm' }, { op: 'rms_norm' }]).wrapper.text().match(/Epsilon/g)).toHaveLength(1)
  })

  it('measures several values of a flag, never none, and does not write the default', async () => {
    const { wrapper, value } = show([{ op: 'scaled_dot_product_attention' }])
    const [off, on] = wrapper.findAll('button')
    await on!.trigger('click')
    expect(value()[0]!.attributes).toEqual({ causal: [false, true] })
    await off!.trigger('click')
    expect(value()[0]!.attributes).toEqual({ causal: [true] })
    await on!.trigger('click')
    expect(value()[0]!.attributes).toEqual({ causal: [true] })
    await off!.trigger('click')
    await on!.trigger('click')
    expect(value()[0]).toEqual({ op: 'scaled_dot_product_attention' })
  })

  it('sets numbers of every operation that shares them, and says what is wrong with others', async () => {
    const { wrapper, value } = show([{ op: 'layer_norm' }, { op: 'rms_norm' }])
    const input = wrapper.find('input')
    await input.setValue('1e-5, 1e-3')
    expect(value().map(({ attributes }) => attributes)).toEqual([{ eps: [1e-5, 1e-3] }, { eps: [1e-5, 1e-3] }])
    await input.setValue('many')
    expect(wrapper.find('[role=alert]').text()).toContain('expected a number from 0 to 1')
    await input.setValue('')
    expect(value()).toEqual([{ op: 'layer_norm' }, { op: 'rms_norm' }])
  })
})
