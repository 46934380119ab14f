import { expect, it } from 'vitest'
import { statusWord, type Status } from '@core/result'
import { blockOf } from '@core/session/rows'
import { testResult } from '@core/testing'
import { ResultRows } from '../../stores/rows/result-rows'
import { missingOf } from './missing'

it('counts the cases that charts leave out by their outcome, without skipped ones', () => {
  const rows = new ResultRows()
  const statuses: Status[] = ['ok', 'wrong', 'crashed', 'skipped', 'wrong']
  rows.append(blockOf(statuses.map((status, i) => testResult({ id: `r${i}`, status })), 0))
  expect(missingOf(rows)).toEqual({ ids: ['r1', 'r2', 'r4'], text: `2 ${statusWord('wrong')}, 1 ${statusWord('crashed')}` })
  expect(missingOf(rows, { op: 'no such operation' }).ids).toEqual([])
  expect(missingOf(rows, { op: rows.case(1).op }).ids).toContain('r1')
})
