import { expect, it } from 'vitest'
import { adviseSession } from '@core/analysis/advice'
import { testResult, testSession } from '@core/testing'
import { findingList } from './findings'

it('prints a paragraph for each finding, and a sentence where there is none', () => {
  const failed = testResult({ id: 'r2', status: 'failed', summary: undefined, message: 'out of\u001b[2J memory' })
  expect(findingList(adviseSession(testSession([testResult(), failed]), []))).toBe('[problem] Failed or inaccurate (1 row)\n  add 1000 f32 hot on cpu avx2, 1 thread failed: out of\\u001b[2J memory\n  Status: failed')
  expect(findingList([])).toBe('Nothing stands out.')
})
