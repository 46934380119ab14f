import { expect, it } from 'vitest'
import { KERNELS } from '../../kernels/registry'

const wgslOf = (op: string, rows: number, length: number) => KERNELS.get(op)!.build({ dtype: 'f32', dims: [rows, length], scalars: [1e-5] }).steps.map(({ wgsl, groups }) => ({ wgsl, groups }))

it('takes four rows of two elements a thread where there are many', () => {
  const [step] = wgslOf('layer_norm', 2 ** 20, 2)
  expect(step!.groups).toBe(2 ** 20 / 4 / 256)
  expect(step!.wgsl).toContain('x_in: array<vec4<f32>>')
  // Element 1 of rows 0 to 3, which are elements 1, 3, 5 and 7.
  expect(step!.wgsl).toContain('let x_1 = vec4<f32>(x_in_0.y, x_in_0.w, x_in_1.y, x_in_1.w);')
  expect(step!.wgsl).toContain('vec4<f32>(result_0.x, result_1.x, result_0.y, result_1.y)')
})

it('leaves few rows and longer ones to threads that share rows', () => {
  for (const [rows, length] of [[1000, 2], [2 ** 20, 3], [2 ** 20, 4]] as const) expect(wgslOf('softmax', rows, length)[0]!.wgsl).not.toContain('result_0')
  expect(wgslOf('cross_entropy', 2 ** 20, 2)[0]!.wgsl).not.toContain('result_0')
})
