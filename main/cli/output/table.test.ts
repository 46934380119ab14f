import { expect, test } from 'vitest'
import { table } from './table'

test('columns line up, empty ones go, and nothing trails', () => {
  const rows = [
    { op: 'add', time: '1.5 us', note: '' },
    { op: 'layer_norm', time: '12 us', note: '' },
  ]
  expect(
    table(rows, [
      { title: 'op', cell: (r) => r.op },
      { title: 'median', align: 'right', cell: (r) => r.time },
      { title: 'note', cell: (r) => r.note },
    ]),
  ).toBe('op          median\nadd         1.5 us\nlayer_norm   12 us')
})

test('a stored text stays in its cell', () => {
  expect(table([{ name: 'a\nforged \u001b[2J' }], [{ title: 'name', cell: (r) => r.name }])).toBe('name\na forged \\u001b[2J')
})
