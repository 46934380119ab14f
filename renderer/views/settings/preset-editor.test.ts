import { mount, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it } from 'vitest'
import { PRESETS, measureSettingsSchema, type MeasureSettings } from '@core/measure/settings'
import PresetEditor from './PresetEditor.vue'
import ThresholdEditor from './ThresholdEditor.vue'
import { fieldsOf, PRESET_FIELDS, readNumber, RULES, sameSettings, withRule } from './preset-fields'

/** The editor with its settings kept as a parent keeps them. */
function open(settings: MeasureSettings = PRESETS.standard): { wrapper: VueWrapper; kept: () => MeasureSettings } {
  let kept = settings
  const wrapper: VueWrapper = mount(PresetEditor, {
    props: {
      id: 'standard', settings,
      onChange: (next: MeasureSettings) => void wrapper.setProps({ settings: (kept = next) }),
      onReset: () => void wrapper.setProps({ settings: (kept = PRESETS.standard) }),
    },
  })
  return { wrapper, kept: () => kept }
}
const fieldNamed = (wrapper: VueWrapper, title: string) => {
  const label = wrapper.findAll('label').find((other) => other.text() === title)!
  const input = wrapper.find(`#${label.attributes('for')!}`)
  return { input, about: () => wrapper.find(`#${input.attributes('aria-describedby')!}`) }
}
const button = (wrapper: VueWrapper, text: string) => wrapper.findAll('button').find((other) => other.text() === text)

describe('preset editor', () => {
  it('shows the numbers of the preset in percent and seconds, and no sign of a change', () => {
    const { wrapper } = open()
    expect((fieldNamed(wrapper, 'Target 95 % CI (±)').input.element as HTMLInputElement).value).toBe('0.5')
    expect((fieldNamed(wrapper, 'Time limit').input.element as HTMLInputElement).value).toBe('15')
    expect(wrapper.text()).not.toContain('changed')
    expect(button(wrapper, 'Reset')).toBeUndefined()
  })

  it('keeps a changed number at once, says what it was, and takes it back on request', async () => {
    const { wrapper, kept } = open()
    await fieldNamed(wrapper, 'Target 95 % CI (±)').input.setValue('1.5')
    expect(kept()).toEqual({ ...PRESETS.standard, relativeCi: 0.015 })
    expect(wrapper.text()).toContain('changed')
    expect(fieldNamed(wrapper, 'Target 95 % CI (±)').about().text()).toBe('default 0.5 %')
    await button(wrapper, 'Reset')!.trigger('click')
    expect(kept()).toEqual(PRESETS.standard)
    expect((fieldNamed(wrapper, 'Target 95 % CI (±)').input.element as HTMLInputElement).value).toBe('0.5')
    expect(wrapper.text()).not.toContain('changed')
  })

  it.each([
    ['Minimum samples', '1', 'Expected a whole number from 2 to 100,000, not 1.'],
    ['Minimum samples', '2.5', 'Expected a whole number from 2 to 100,000, not 2.5.'],
    ['Target 95 % CI (±)', 'tight', 'Expected a number from 0.01 to 50 %, not “tight”.'],
    ['Target 95 % CI (±)', '0,5', 'Expected a number from 0.01 to 50 %, with a point: 0.5.'],
    ['Time limit', '', 'Expected a number from 0.01 to 3,600 s.'],
    ['Time limit', '1e99', 'Expected a number from 0.01 to 3,600 s, not 1e99.'],
    ['Time limit', '0.02', 'Expected at least the minimum time, 0.05 s.'],
  ])('%s of “%s” is not kept, and the field says what is expected', async (title, text, problem) => {
    const { wrapper, kept } = open()
    await fieldNamed(wrapper, title).input.setValue(text)
    expect(kept()).toEqual(PRESETS.standard)
    const { input, about } = fieldNamed(wrapper, title)
    expect(input.attributes('aria-invalid')).toBe('true')
    expect((input.element as HTMLInputElement).value).toBe(text)
    expect(about().text()).toBe(problem)
  })

  it('keeps a right number while another is wrong', async () => {
    const { wrapper, kept } = open()
    await fieldNamed(wrapper, 'Minimum samples').input.setValue('x')
    await fieldNamed(wrapper, 'Time limit').input.setValue('20')
    expect(kept()).toEqual({ ...PRESETS.standard, maxSeconds: 20 })
    expect(fieldNamed(wrapper, 'Minimum samples').input.attributes('aria-invalid')).toBe('true')
  })

  it('leaves a number as it is typed while it means the same', async () => {
    const { wrapper } = open()
    await fieldNamed(wrapper, 'Target 95 % CI (±)').input.setValue('0.50')
    expect((fieldNamed(wrapper, 'Target 95 % CI (±)').input.element as HTMLInputElement).value).toBe('0.50')
  })

  it('shows the numbers of the rule that is chosen, and those of the first when it is taken back', async () => {
    const { wrapper, kept } = open()
    await wrapper.find('select').setValue('fixed-count')
    expect(kept().rule).toEqual({ id: 'fixed-count', count: 100 })
    expect(wrapper.findAll('label').map((label) => label.text())).not.toContain('Target 95 % CI (±)')
    await fieldNamed(wrapper, 'Samples').input.setValue('33')
    expect(kept().rule).toEqual({ id: 'fixed-count', count: 33 })
    await wrapper.find('select').setValue('fixed-time')
    await fieldNamed(wrapper, 'Time').input.setValue('60')
    expect(fieldNamed(wrapper, 'Time limit').about().text()).toBe('Expected at least the sampling time, 60 s.')
    await wrapper.find('select').setValue('relative-ci')
    expect(sameSettings(kept(), PRESETS.standard)).toBe(true)
    expect(wrapper.text()).not.toContain('changed')
  })
})

describe('numbers of a preset', () => {
  it('allow nothing that a measurement would refuse', () => {
    for (const { id: rule } of RULES) {
      for (const field of fieldsOf(rule)) {
        for (const value of [field.from, field.to]) {
          expect(measureSettingsSchema.safeParse(field.set(withRule(PRESETS.standard, rule), value)).success, `${field.id} ${value}`).toBe(true)
        }
      }
    }
  })
  it('are read back as they were set', () => {
    for (const field of PRESET_FIELDS) expect(field.get(field.set(PRESETS.quick, field.to))).toBe(field.to)
  })
  it('refuse text that only looks like a number', () => {
    for (const text of ['0x', 'Infinity', '1 2', '--1', 'NaN']) expect(readNumber(text, { title: 't', from: 0, to: 100 }).ok, text).toBe(false)
  })
})

describe('threshold of comparisons', () => {
  it('is a percentage, kept as a fraction, and can be taken back', async () => {
    const wrapper = mount(ThresholdEditor, { props: { threshold: undefined } })
    const input = wrapper.find('input')
    expect(input.element.value).toBe('1')
    await input.setValue('2.5')
    await input.setValue('-1')
    expect(wrapper.text()).toContain('Expected a number from 0 to 50 %')
    await button(wrapper, 'Reset')!.trigger('click')
    expect(wrapper.emitted('change')).toEqual([[0.025], [0.01]])
  })
})
