import { expect, it } from 'vitest'
import { KERNELS } from '../registry'
import { isDense } from './dense'

const TINY = { batch: 14_743, channels: 9, filters: 23, groups: 1, plane: 18, taps: 27, outputs: 18 }

it('multiplies images of tiny planes with a matrix where many taps meet padding', () => {
  expect(isDense(TINY)).toBe(true)
  // Planes of more elements than filters have taps, groups, little work, and more weights than elements.
  for (const other of [{ plane: 27 }, { groups: 3 }, { batch: 100 }, { batch: 1000, channels: 1000, filters: 200 }]) expect(isDense({ ...TINY, ...other }), JSON.stringify(other)).toBe(false)
  const { steps, scratchBytes } = KERNELS.get('conv3d')!.build({ dtype: 'f32', scalars: [], dims: [14_743, 9, 23, 1, 1, 1, 3, 3, 1, 3, 3, 3, 1, 3, 2, 3, 1, 2] })
  expect(steps[0]!.groups).toBe(Math.ceil((162 * 414) / 256))
  expect(scratchBytes.at(-1)).toBe(4 * 162 * 414)
  expect(steps[1]!.dims.slice(0, 3)).toEqual([14_743, 414, 162])
})
