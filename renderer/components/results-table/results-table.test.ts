import { mount, flushPromises, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { blockOf } from '@core/session/rows'
import { runCommand } from '../../commands/registry'
import { installMockApi } from '../../dev/mock-api'
import { mockCeilings } from '../../dev/mock-devices'
import { mockResult } from '../../dev/mock-results'
import { efficiencyFrom, cellOf } from './columns/cell'
import { ResultRows } from '../../stores/rows/result-rows'
import { useSettings } from '../../stores/settings'
import { COLUMNS } from './columns/columns'
import ResultsTable from './ResultsTable.vue'

const OPS = ['gelu', 'add', 'copy', 'mul', 'exp']
const results = Array.from({ length: 60 }, (_, i) =>
  mockResult({ op: OPS[i % 5]!, params: { n: 2 ** (12 + (i % 12)) }, dtype: 'f32', backend: i % 2 ? 'cpu' : 'cuda', impl: i % 2 ? 'avx2' : 'kernel', device: i % 2 ? 'cpu' : 'cuda:0', mode: 'hot' }, `r${i}`, 1),
)

let wrapper: VueWrapper
let rows: ResultRows

beforeEach(() => {
  setActivePinia(createPinia())
  installMockApi({ empty: true })
  // happy-dom lays nothing out: the table believes to be 600 px tall.
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(600)
  rows = new ResultRows()
  rows.append(blockOf(results, 0))
  // Menus of rows open in the app's main part.
  document.body.append(document.createElement('main'))
  wrapper = mount(ResultsTable, { attachTo: document.querySelector('main')!, props: { rows, ceilings: mockCeilings, live: false, table: 'test', selected: new Set<string>(), 'onUpdate:selected': (selected: Set<string>) => wrapper.setProps({ selected }) } })
})
afterEach(() => {
  wrapper.unmount()
  document.body.replaceChildren()
  vi.restoreAllMocks()
})

const bodyRows = () => wrapper.findAll('[role=row][data-row]').sort((a, b) => Number(a.attributes('data-row')) - Number(b.attributes('data-row')))
const column = (at: number) => bodyRows().map((row) => row.findAll('[role=gridcell]')[at]!.text())
const selected = () => [...(wrapper.props() as { selected: Set<string> }).selected]
const key = (name: string, part: Record<string, unknown> = {}) => wrapper.find('[role=grid]').trigger('keydown', { key: name, ...part })

describe('ResultsTable', () => {
  it('without rows fills the height below its head, so that nothing scrolls', async () => {
    await wrapper.setProps({ rows: new ResultRows() })
    const grid = wrapper.find('[role=grid]')
    expect(grid.classes()).toEqual(expect.arrayContaining(['flex', 'flex-col', 'overflow-x-hidden']))
    expect(grid.element.lastElementChild!.className).toContain('flex-1')
    await wrapper.setProps({ rows })
    expect(grid.classes()).not.toContain('flex')
    expect(grid.classes()).toContain('overflow-auto')
  })

  it('draws only the rows near the visible ones and tells how many there are', () => {
    expect(bodyRows().length).toBeLessThan(60)
    expect(bodyRows().length).toBeGreaterThan(20)
    expect(wrapper.find('[role=grid]').attributes('aria-rowcount')).toBe('61')
    expect(wrapper.text()).toContain('60 rows')
  })

  it('shows the energy of a call where it was measured, until the user takes the column away', async () => {
    const heads = () => wrapper.findAll('[role=columnheader]').map((head) => head.text())
    const find = (name: string) => [...document.querySelectorAll<HTMLElement>('[role=dialog] label')].find((label) => label.textContent.trim() === name)!.querySelector('input')!
    expect(heads().some((head) => head.startsWith('Energy'))).toBe(false)
    const measured = new ResultRows()
    measured.append(blockOf(results.map((result) => ({ ...result, status: 'ok' as const, energy: { joulesPerCall: 2e-3, lowJ: 1.9e-3, highJ: 2.1e-3, watts: 500, seconds: 10, calls: 2.5e6, windows: 5, source: 'a counter' } })), 0))
    await wrapper.setProps({ rows: measured })
    expect(heads()).toContainEqual(expect.stringMatching(/^Energy\smJ$/))

    await wrapper.get('button[title=Columns]').trigger('click')
    find('Energy').click()
    await flushPromises()
    expect(heads().some((head) => head.startsWith('Energy'))).toBe(false)
    const reset = [...document.querySelectorAll<HTMLElement>('[role=dialog] button')].find((button) => button.textContent.trim() === 'Reset')!
    reset.click()
    await flushPromises()
    expect(heads()).toContainEqual(expect.stringMatching(/^Energy\smJ$/))
  })

  it('says on each header what its column means', () => {
    const heads = new Map(wrapper.findAll('[data-sort]').map((head) => [head.attributes('data-sort'), head]))
    expect(heads.size).toBeGreaterThan(8)
    for (const [id, head] of heads) {
      const { about } = COLUMNS.find((one) => one.id === id)!
      expect(about.length, id).toBeGreaterThan(10)
      expect([head, ...head.findAll('[title]')].some((part) => part.attributes('title')?.startsWith(about)), id).toBe(true)
    }
  })

  it('has rows of the height that the user has set', async () => {
    const at = (row: number) => bodyRows()[row]!.attributes('style')
    expect(at(2)).toMatch(/translateY\(56px\).*height: 28px/)
    const before = bodyRows().length
    useSettings().set({ density: 'compact' })
    await flushPromises()
    expect(at(2)).toMatch(/translateY\(44px\).*height: 22px/)
    expect(bodyRows().length).toBeGreaterThan(before)
  })

  it('tells what it shows, and shows that again: filters, order and columns', async () => {
    const table = wrapper.vm as unknown as InstanceType<typeof ResultsTable>
    const before = table.read()
    table.show({ quick: 'gelu', filtering: true, filters: { backend: 'cuda' }, sorts: [{ column: 'median', descending: true }], columns: [{ id: 'op' }, { id: 'gone' }, { id: 'median', width: 99 }] })
    await flushPromises()
    expect(new Set(column(0))).toEqual(new Set(['gelu']))
    expect(wrapper.findAll('[role=columnheader]')).toHaveLength(2)
    const { view, about } = table.read()
    expect([about, view.columns[1]]).toEqual(['rows with “gelu”, backend cuda, by median', { id: 'median', width: 99 }])
    table.show(before.view)
    await flushPromises()
    expect(wrapper.text()).toContain('60 rows')
    expect(table.read()).toEqual(before)
  })

  it('sorts by a header, the other way on the second click, and not at all on the third', async () => {
    const measured = column(0)
    const head = wrapper.find('[data-sort=op]')
    await head.trigger('click')
    expect(column(0)).toEqual([...column(0)].sort())
    expect(column(0)[0]).toBe('add')
    await head.trigger('click')
    expect(column(0)[0]).toBe('mul')
    expect(wrapper.findAll('[role=columnheader]')[0]!.attributes('aria-sort')).toBe('descending')
    await head.trigger('click')
    expect(column(0)).toEqual(measured)
  })

  it('adds a column to the sort with Shift', async () => {
    await wrapper.find('[data-sort=op]').trigger('click')
    await wrapper.find('[data-sort=backend]').trigger('click', { shiftKey: true })
    const pairs = bodyRows().map((row) => row.findAll('[role=gridcell]')).map((cells) => `${cells[0]!.text()} ${cells[3]!.text()}`)
    expect(pairs).toEqual([...pairs].sort())
    expect(new Set(pairs).size).toBeGreaterThan(2)
  })

  it('filters by words and says how many are left', async () => {
    await wrapper.find('input[type=search]').setValue('gelu cpu')
    expect(new Set(column(0))).toEqual(new Set(['gelu']))
    expect(wrapper.text()).toContain('6 of 60 rows')
    await wrapper.find('input[type=search]').setValue('nothing like it')
    expect(wrapper.text()).toContain('No row passes the filters')
  })

  it('filters by a column and marks what it cannot read', async () => {
    await wrapper.find('[aria-label="Filter by column"]').trigger('click')
    const input = wrapper.find('[aria-label="Filter Operation"]')
    await input.setValue('add, mul')
    expect(new Set(column(0))).toEqual(new Set(['add', 'mul']))
    await wrapper.find('[aria-label="Filter Median"]').setValue('quick')
    expect(wrapper.find('[aria-label="Filter Median"]').attributes('aria-invalid')).toBe('true')
  })

  it('moves, extends and toggles the selection by keyboard', async () => {
    await key('ArrowDown')
    expect(selected()).toEqual(['r0'])
    await key('ArrowDown')
    await key('ArrowDown', { shiftKey: true })
    expect(selected()).toEqual(['r1', 'r2'])
    await key(' ')
    expect(selected()).toEqual(['r1'])
    await key('End')
    expect(selected()).toEqual(['r59'])
    await key('Enter')
    expect(wrapper.emitted('open')).toEqual([['r59']])
    await key('Escape')
    expect(selected()).toEqual([])
  })

  it('selects by click, Ctrl+click and Shift+click', async () => {
    await bodyRows()[3]!.trigger('click')
    await bodyRows()[5]!.trigger('click', { ctrlKey: true })
    expect(selected()).toEqual(['r3', 'r5'])
    await bodyRows()[7]!.trigger('click', { shiftKey: true })
    expect(selected()).toEqual(['r5', 'r6', 'r7'])
  })

  it('copies the selected rows as tab-separated text in the order shown', async () => {
    const write = vi.fn(() => Promise.resolve())
    vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText: write } })
    await wrapper.find('input[type=search]').setValue('add')
    runCommand('table.select-all')
    await flushPromises()
    expect(selected()).toHaveLength(12)
    runCommand('table.copy')
    await flushPromises()
    const lines = (write.mock.calls as unknown as [string][])[0]![0].split('\n')
    expect(lines).toHaveLength(13)
    expect(lines[0]!.split('\t').slice(0, 3)).toEqual(['Operation', 'Shape', 'Dtype'])
    expect(lines[0]).toContain('Median (µs)')
    expect(lines.slice(1).every((line) => line.startsWith('add\t'))).toBe(true)
    const median = Number(lines[1]!.split('\t')[lines[0]!.split('\t').indexOf('Median (µs)')])
    expect(median * 1000).toBeCloseTo(results[1]!.summary!.medianNs, 1)
    vi.unstubAllGlobals()
  })

  it('shows rows that arrive while it is open', async () => {
    rows.append(blockOf([mockResult({ ...results[0]!.case, op: 'exp' }, 'late', 1)], 60))
    await wrapper.vm.$nextTick()
    expect(wrapper.text()).toContain('61 rows')
  })

  it('compares with the implementation that is chosen in the header, keeps it, and goes back to its own choice', async () => {
    const head = () => wrapper.findAll('[role=columnheader]').find((one) => one.find('[aria-label="Choose the baseline"]').exists())!
    const choose = async (text: string) => {
      await head().get('[aria-label="Choose the baseline"]').trigger('click')
      await flushPromises()
      const label = [...document.querySelectorAll('[role=radiogroup] label')].find((one) => one.textContent! === text)!
      label.querySelector('input')!.dispatchEvent(new Event('change'))
      await flushPromises()
    }
    expect(head().text()).toContain('vs cuda kernel')
    await choose('cpu avx2')
    expect(head().text()).toContain('vs cpu avx2')
    expect(useSettings().values.columns['test']!.map(({ id }) => id)).toContain('speedup:cpu/avx2')
    await choose('cuda kernel(automatic)')
    expect(head().text()).toContain('vs cuda kernel')
  })

  it('never shows a naked NaN, and says why a number is missing', () => {
    expect(wrapper.html()).not.toMatch(/>(NaN|undefined|Infinity|-1)</)
    const threads = bodyRows()[0]!.findAll('[role=gridcell]')[4]!
    expect(threads.text()).toBe('–')
    expect(threads.attributes('title')).toContain('no choice of threads')
  })

  it('gives every cell of a failed row a dash and the reason', async () => {
    const failed = { ...mockResult(results[0]!.case, 'crash', 1), status: 'crashed' as const, message: 'The process died.', summary: undefined, grade: undefined }
    rows.append(blockOf([failed], 60))
    await wrapper.find('input[type=search]').setValue('crashed')
    const cells = bodyRows().at(-1)!.findAll('[role=gridcell]')
    const heads = wrapper.findAll('[role=columnheader]').map((head) => head.text())
    for (const name of ['Grade', 'Verified', '95 % CI ±']) {
      const cell = cells[heads.findIndex((head) => head.startsWith(name))]!
      expect([name, cell.text(), cell.attributes('title')]).toEqual([name, '–', 'The process died.'])
    }
  })
})

describe('the efficiency of a row', () => {
  const column = COLUMNS.find(({ id }) => id === 'efficiency')!
  const cell = (mode: 'hot' | 'cold', bandwidth: number, error = 0.01) => {
    const result = { ...results[0]!, case: { ...results[0]!.case, op: 'copy', mode }, status: 'ok' as const, bytes: 1e6, flops: 0, summary: { ...results[0]!.summary!, medianNs: 1000 } }
    const row = new ResultRows()
    row.append(blockOf([result], 0))
    const ceiling = { ...mockCeilings[0]!, backend: result.case.backend, device: result.case.device, kind: 'copy', unit: 'bytes/s' as const, value: bandwidth }
    // An interval of so many percent to either side.
    const ns = (ceiling.result.bytes / bandwidth) * 1e9
    const efficiency = efficiencyFrom([{ ...ceiling, result: { ...ceiling.result, summary: { ...ceiling.result.summary!, medianNs: ns, ciLowNs: ns / (1 + error), ciHighNs: ns / (1 - error) } } }])
    return cellOf({ column, width: 70, unit: { name: '%', size: 0.01 } }, row, 0, efficiency)
  }

  it('is marked above the roof, with why on hover', () => {
    expect(cell('hot', 1e11)).toMatchObject({ text: '1000', mark: '*', hover: expect.stringContaining('Cache-resident') })
    expect(cell('cold', 1e11)).toMatchObject({ mark: '*', hover: expect.stringContaining('memory bandwidth') })
  })

  it('is marked where the ceiling is uncertain', () => {
    expect(cell('cold', 2e12, 0.38)).toMatchObject({ text: '50.0', mark: '*', hover: 'Uncertain: the measured ceiling behind this efficiency has a 95 % CI of ±38.0 %. Measure the ceilings again.' })
  })

  it('is a plain number below it', () => {
    expect(cell('hot', 2e12)).toMatchObject({ text: '50.0', hover: undefined })
    expect(cell('hot', 2e12).mark).toBeUndefined()
  })
})
