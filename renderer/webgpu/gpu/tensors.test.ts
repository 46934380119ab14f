import { expect, it } from 'vitest'
import type { Gpu } from './gpu'
import { boundPart, checkScratchSize, checkSize, type Tensor } from './tensors'

const tensor = (size: number, elements: number): Tensor => ({ buffer: { size } as GPUBuffer, elements, storage: 'f32' })

it('binds the padding of a tensor where its buffer has some', () => {
  expect(boundPart(tensor(16, 1), { first: 0, count: 1 })).toMatchObject({ offset: 0, size: 16 })
  expect(boundPart(tensor(4, 1), { first: 0, count: 1 })).toMatchObject({ offset: 0, size: 4 })
  expect(boundPart(tensor(1036, 259), { first: 256, count: 3 })).toMatchObject({ offset: 1024, size: 12 })
})

it('says which tensor is too large, or that it is scratch memory of the kernel', () => {
  const gpu = { device: { limits: { maxBufferSize: 2 ** 30 } }, bindingBytes: 2 ** 27 } as Gpu
  expect(() => checkSize(gpu, 2 ** 27 + 16, 'weight')).toThrow('The tensor weight needs 134217744 bytes; this WebGPU device allows 134217728 for one tensor. Choose a smaller size.')
  expect(() => checkScratchSize(gpu, 2 ** 27 + 4)).toThrow('The kernel needs 134217732 bytes of scratch memory in one buffer; this WebGPU device allows 134217728. Choose a smaller size.')
  // Tensors that kernels bind in parts may be as large as a buffer.
  expect([() => checkSize(gpu, 2 ** 27, 'x'), () => checkSize(gpu, 2 ** 30, 'x', true), () => checkScratchSize(gpu, 2 ** 27)].map((check) => check())).toEqual([undefined, undefined, undefined])
})
