import { expect, test, it } from 'vitest'
import { adviseSession } from '@core/analysis/advice'
import type { Row } from '@core/session/rows'
import { testResult, testSession } from '@core/testing'
import { resultLine, resultTable, findingList } from './results'

const ok: Row = {
  id: 'a', status: 'ok', grade: 'A', medianNs: 36_800, ciLowNs: 36_700, ciHighNs: 36_900, samples: 32, bytes: 134_217_728, flops: 16_777_216,
  case: { op: 'gelu', params: { n: 16_777_216 }, dtype: 'f32', backend: 'cuda', impl: 'kernel', device: 'cuda:0', mode: 'cold' },
}
const crashed: Row = { id: 'b', status: 'crashed', message: 'the measurement process ended: killed by SIGSEGV', samples: 0, bytes: 12, flops: 1, case: { ...ok.case, op: 'add', params: { n: 1 } } }

test('figures carry their unit, and a case without a figure carries its reason', () => {
  const [head, first, second] = resultTable([ok, crashed]).split('\n')
  expect(head).toMatch(/^op +shape +dtype +device +impl +mode +median µs +95 % +bandwidth TB\/s +rate GFLOP\/s +samples +grade +remark$/)
  expect(first).toMatch(/^gelu +16Mi +f32 +cuda:0 +kernel +cold +36\.80 +±0\.27 % +3\.647 +455\.9 +32 +A$/)
  expect(second).toMatch(/^add +1 .*– +– +– +– +0 +crashed +the measurement process ended: killed by SIGSEGV$/)
})

test('a case is a line in a pipe', () => {
  expect(resultLine('gelu 16Mi', ok)).toBe('gelu 16Mi: 36.8 µs ±0.27 % A')
  expect(resultLine('add 1', crashed)).toBe('add 1: crashed: the measurement process ended: killed by SIGSEGV')
})

it('prints a paragraph for each finding, and a sentence where there is none', () => {
  const failed = testResult({ id: 'r2', status: 'failed', summary: undefined, message: 'out of\u001b[2J memory' })
  expect(findingList(adviseSession(testSession([testResult(), failed]), []))).toBe('[problem] Failed or inaccurate (1 row)\n  add 1000 f32 hot on cpu avx2, 1 thread failed: out of\\u001b[2J memory\n  Status: failed')
  expect(findingList([])).toBe('No findings.')
})
