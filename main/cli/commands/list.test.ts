import { expect, test } from 'vitest'
import { SIZE_FORMS } from '@core/ops/forms'
import { SIZE_PRESETS } from '@core/sweep/defaults'
import { sizeTables } from './list'

test('the sizes of every form are listed for every preset', () => {
  const lines = sizeTables().split('\n').map((line) => line.trim())
  for (const { id } of SIZE_FORMS) expect(lines.some((line) => line.startsWith(`${id} `)), id).toBe(true)
  expect(lines).toHaveLength(1 + SIZE_PRESETS.length + 2 + SIZE_FORMS.length * SIZE_PRESETS.length)
})
