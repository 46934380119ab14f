import { expect, it } from 'vitest'
import { commandLineOf } from './copy-rows'

const c = { op: 'sum', params: { rows: 64, cols: 128, axis: 'last' }, dtype: 'f32' as const, backend: 'cpu', impl: 'avx2', device: 'cpu', mode: 'rotated' as const, threads: 8 }

it('measures a case again as it was measured', () => {
  expect(commandLineOf(c, { preset: 'quick' })).toBe('npm run opscope -- run --ops sum:axis=last --sizes 64x128 --dtypes f32 --devices cpu --impls avx2 --modes rotated --threads 8 --preset quick')
  expect(commandLineOf(c, { preset: 'standard', repeats: 5, measure: { relativeCi: 0.002, rule: { id: 'fixed-time', seconds: 1 } } })).toMatch(/ --preset standard --rule fixed-time=1s --ci 0\.2% --repeats 5$/)
})
