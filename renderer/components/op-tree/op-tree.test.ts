import { mount } from '@vue/test-utils'
import { describe, expect, it } from 'vitest'
import { getOp, OPS } from '@core/ops/registry'
import { groupTick, hasLeaf, leavesOf, setLeaf, setOps, tickOf, type Picked } from './picked-ops'
import OpTree from './OpTree.vue'

const sum = getOp('sum')

function open(picked: Picked) {
  const wrapper = mount(OpTree, { props: { modelValue: picked, 'onUpdate:modelValue': (next: Picked) => wrapper.setProps({ modelValue: next }) } })
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
  it('shows a family as partly picked and picks the rest with one click', async () => {
    const { box, value } = open([{ op: 'add' }])
    expect(box('binary family').attributes('aria-checked')).toBe('mixed')
    await box('binary family').setValue(true)
    expect(value().map((entry) => entry.op)).toEqual(OPS.filter((op) => op.family === 'binary').map((op) => op.id))
    expect(groupTick(value(), OPS.filter((op) => op.family === 'binary'))).toBe('all')
    await box('binary family').setValue(false)
    expect(value()).toEqual([])
  })

  it('counts the picked operations of each family', () => {
    const { wrapper } = open([{ op: 'add' }])
    expect(wrapper.findAll('[role=treeitem]').find((item) => item.text().startsWith('binary'))!.text()).toContain(`1/${OPS.filter((op) => op.family === 'binary').length}`)
  })

  it('searches names, families and summaries, and All picks what is shown', async () => {
    const { wrapper, box, value } = open([])
    await wrapper.find('input[type=search]').setValue('norm')
    expect(box('layer_norm').exists()).toBe(true)
    expect(box('matmul').exists()).toBe(false)
    await wrapper.findAll('button').find((button) => button.text() === 'All')!.trigger('click')
    expect(value().map((entry) => entry.op)).toContain('layer_norm')
    expect(value().map((entry) => entry.op)).not.toContain('matmul')
    await wrapper.find('input[type=search]').setValue('zebra')
    expect(wrapper.text()).toContain('No operation is called “zebra”')
  })

  it('offers the choices of a picked operation', async () => {
    const { box, value } = open([{ op: 'sum', attributes: { axis: ['all'] } }])
    expect(box('sum').attributes('aria-checked')).toBe('mixed')
    await box('sum axis last').setValue(true)
    expect(value()).toEqual([{ op: 'sum', attributes: { axis: ['all', 'last'] } }])
  })
})
