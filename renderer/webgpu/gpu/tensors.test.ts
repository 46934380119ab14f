import { expect, it } from 'vitest'
import { boundPart, type Tensor } from './tensors'

const tensor = (size: number, elements: number): Tensor => ({ buffer: { size } as GPUBuffer, elements, storage: 'f32' })

it('binds the padding of a tensor where its buffer has some', () => {
  expect(boundPart(tensor(16, 1), { first: 0, count: 1 })).toMatchObject({ offset: 0, size: 16 })
  expect(boundPart(tensor(4, 1), { first: 0, count: 1 })).toMatchObject({ offset: 0, size: 4 })
  expect(boundPart(tensor(1036, 259), { first: 256, count: 3 })).toMatchObject({ offset: 1024, size: 12 })
})
