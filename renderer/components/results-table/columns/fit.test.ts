import { expect, it } from 'vitest'
import { MODES } from '@core/case'
import { COLUMNS, findColumn } from './columns'
import { fitColumns, withHead } from './fit'

const columns = COLUMNS.filter(({ optional }) => !optional).map((column) => ({ column, width: column.width }))
const idsIn = (width: number, kept: string[] = [], of = columns) => fitColumns(of, width, new Set(kept)).map(({ column }) => column.id)

it('keeps what answers in a narrow table, without scrolling sideways', () => {
  // 1024 px with details open.
  const shown = fitColumns(columns, 650, new Set())
  expect(shown.map(({ column }) => column.id)).toEqual(expect.arrayContaining(['op', 'shape', 'dtype', 'backend', 'mode', 'median', 'speedup']))
  expect(shown.reduce((sum, { width }) => sum + width, 0)).toBeLessThanOrEqual(650)
  expect(idsIn(900)).toContain('grade')
  expect(idsIn(5000)).toEqual(columns.map(({ column }) => column.id))
  expect(idsIn(0)).toEqual(columns.map(({ column }) => column.id))
})

it('keeps columns that sort or filter, and those that the user has chosen', () => {
  expect(idsIn(650, ['verified'])).toContain('verified')
  const p95 = COLUMNS.find(({ id }) => id === 'p95')!
  expect(idsIn(650, [], [...columns, { column: p95, width: p95.width }])).toContain('p95')
})

it('leaves out what is the same in all rows, then the speedup, where the picks and details leave a strip', () => {
  const strip = fitColumns(columns, 370, new Set(), (id) => id === 'mode' || id === 'dtype')
  expect(strip.map(({ column }) => column.id)).toEqual(['op', 'shape', 'backend', 'median'])
  expect(strip.reduce((sum, { width }) => sum + width, 0)).toBeLessThanOrEqual(450)
  expect(fitColumns(columns, 480, new Set(), (id) => id === 'op').map(({ column }) => column.id)).toEqual(['shape', 'dtype', 'backend', 'mode', 'median'])
  expect(fitColumns(columns, 650, new Set(), () => true).map(({ column }) => column.id)).toContain('mode')
})

it('leaves out a speedup without a figure in any row before columns that answer, unless it is sorted or filtered by', () => {
  const torch = findColumn('speedup:cpu/avx512')!
  const against = columns.map((one) => (one.column.id === 'speedup' ? { column: torch, width: torch.width } : one))
  const shown = (empty: boolean, kept: string[] = []) => fitColumns(against, 900, new Set(kept), () => false, (id) => empty && id === torch.id).map(({ column }) => column.id)
  expect(shown(false)).toContain(torch.id)
  expect(shown(true)).not.toContain(torch.id)
  expect(shown(true).length).toBeGreaterThanOrEqual(shown(false).length)
  expect(shown(true, [torch.id])).toContain(torch.id)
  // Where all columns fit, it stays.
  expect(fitColumns(against, 5000, new Set(), () => false, () => true)).toHaveLength(against.length)
})

it('gives a header room for its words, but not where the user has set the width', () => {
  const speedup = columns.find(({ column }) => column.id === 'speedup')!
  expect(withHead(speedup, 'vs python torch.compile', true).width).toBeGreaterThan(speedup.width)
  expect(withHead({ ...speedup, width: 60 }, 'vs python torch.compile', true).width).toBe(60)
})

it('says of the mode what each of them is', () => {
  const { about } = COLUMNS.find(({ id }) => id === 'mode')!
  for (const mode of MODES) expect(about).toContain(`${mode}: `)
})
