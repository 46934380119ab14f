import { expect, it } from 'vitest'
import { KERNELS } from '../../kernels/registry'

const wgslOf = (op: string, rows: number, length: number) => KERNELS.get(op)!.build({ dtype: 'f32', dims: [rows, length], scalars: [1e-5] }).steps.map(({ wgsl, groups }) => ({ wgsl, groups }))

it('takes four rows of a few elements a thread where there are many', () => {
  const [step] = wgslOf('layer_norm', 2 ** 20, 3)
  expect(step!.groups).toBe(2 ** 20 / 4 / 256)
  expect(step!.wgsl).toContain('x_in: array<vec4<f32>>')
  // Element 1 of rows 0 to 3, which are elements 1, 4, 7 and 10.
  expect(step!.wgsl).toContain('let x_1 = vec4<f32>(x_in_0.y, x_in_1.x, x_in_1.w, x_in_2.z);')
  expect(step!.wgsl).toContain('vec4<f32>(result_0.x, result_1.x, result_2.x, result_0.y)')
})

it('leaves few rows, longer ones and whole vectors to threads that share rows', () => {
  for (const [rows, length] of [[1000, 3], [2 ** 20, 9], [2 ** 20, 4]] as const) expect(wgslOf('softmax', rows, length)[0]!.wgsl).not.toContain('result_0')
  expect(wgslOf('cross_entropy', 2 ** 20, 3)[0]!.wgsl).not.toContain('result_0')
})
