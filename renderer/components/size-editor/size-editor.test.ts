import { flushPromises, mount } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import { SIZE_FORMS } from '@core/ops/forms'
import SizeEditor from './SizeEditor.vue'

const open = (id: 'vector' | 'matrix' | 'gemm' | 'conv2d', modelValue: string) => mount(SizeEditor, { props: { form: SIZE_FORMS.find((form) => form.id === id)!, modelValue } })

describe('SizeEditor', () => {
  it('tells how many sizes the text stands for and which', () => {
    expect(open('vector', '2^16..2^20 x4').text()).toContain('3 sizes: 64Ki to 1Mi')
    expect(open('matrix', '1024, 4096x1024').text()).toContain('2 sizes: 1024x1024 and 4096x1024')
    expect(open('gemm', '').text()).toContain('No size yet')
    expect(open('conv2d', 'n={1,2} c=8 hw=16 k=8 r=3').text()).toContain('2 sizes: n=1 c=8 hw=16 k=8 r=3 and n=2 c=8 hw=16 k=8 r=3')
  })

  it('shows what is wrong and where, and marks the field', () => {
    const wrapper = open('vector', '100, frog')
    const field = wrapper.find('input')
    expect(field.attributes('aria-invalid')).toBe('true')
    const problem = wrapper.find(`#${field.attributes('aria-describedby')!}`)
    expect(problem.classes()).toContain('text-danger')
    expect(problem.find('u').text().startsWith('f')).toBe(true)
  })

  it('marks a missing end of the text without a glyph of its own', () => {
    const problem = open('vector', '1024..').find('p')
    expect(problem.text()).toContain('expected the last size of the range')
    expect(problem.find('u').element.textContent).toBe('\u00a0')
  })

  it('brings the whole message into sight while the text is typed, and only then', async () => {
    const wrapper = mount(SizeEditor, { props: { form: SIZE_FORMS.find(({ id }) => id === 'vector')!, modelValue: '100' }, attachTo: document.body })
    const scrolled = vi.fn()
    wrapper.find('p').element.scrollIntoView = scrolled
    await wrapper.setProps({ modelValue: '100..' })
    await flushPromises()
    expect(scrolled).not.toHaveBeenCalled()
    wrapper.find('input').element.focus()
    await wrapper.setProps({ modelValue: '100, x' })
    await flushPromises()
    expect(scrolled).toHaveBeenCalledOnce()
    wrapper.unmount()
  })

  it('hands on what is typed even while it is wrong', async () => {
    const wrapper = open('vector', '100')
    await wrapper.find('input').setValue('100,')
    await wrapper.find('input').setValue('100, 2^')
    expect(wrapper.emitted('update:modelValue')).toEqual([['100,'], ['100, 2^']])
  })
})
