import { describe, expect, it } from 'vitest'
import { datasheetOf, datasheetValue } from './datasheet'

describe('a device is known by its name as drivers and browsers give it', () => {
  it.each([
    ['NVIDIA H200', 'H200 SXM'], ['NVIDIA H200 NVL', 'H200 NVL'], ['NVIDIA H100 80GB HBM3', 'H100 SXM'], ['NVIDIA H100 PCIe', 'H100 PCIe'], ['NVIDIA H100 NVL', 'H100 NVL'],
    ['NVIDIA A100-SXM4-80GB', 'A100 80GB SXM'], ['A100-SXM4-40GB', 'A100 40GB'], ['NVIDIA A100-PCIE-40GB', 'A100 40GB'], ['NVIDIA A100 80GB PCIe', 'A100 80GB PCIe'],
    ['Tesla V100-SXM2-32GB', 'V100 SXM2'], ['Tesla V100-PCIE-16GB', 'V100 PCIe'], ['Tesla V100S-PCIE-32GB', 'V100S PCIe'], ['Tesla T4', 'T4'], ['NVIDIA L4', 'L4'], ['NVIDIA L40S', 'L40S'], ['NVIDIA L40', 'L40'],
    ['NVIDIA A10', 'A10'], ['NVIDIA A40', 'A40'], ['NVIDIA GeForce RTX 3090', 'GeForce RTX 3090'], ['NVIDIA GeForce RTX 4090', 'GeForce RTX 4090'], ['NVIDIA GeForce RTX 5090 (Vulkan 1.3)', 'GeForce RTX 5090'],
    ['NVIDIA RTX 6000 Ada Generation', 'RTX 6000 Ada'], ['NVIDIA RTX A6000', 'RTX A6000'], ['NVIDIA B200', 'B200'],
  ])('%s is %s', (name, title) => expect(datasheetOf(name)?.title).toBe(title))

  it.each([
    'NVIDIA GeForce RTX 4090 Laptop GPU', 'NVIDIA GeForce RTX 4090 D', 'NVIDIA GeForce RTX 3090 Ti', 'NVIDIA H100 80GB HBM3 MIG 1g.10gb', 'NVIDIA H20', 'NVIDIA H800', 'NVIDIA A800-SXM4-80GB', 'NVIDIA A100-SXM-64GB',
    'NVIDIA A10G', 'NVIDIA A1000', 'NVIDIA T400', 'Quadro RTX 6000', 'NVIDIA GB200', 'AMD EPYC 7763', 'SwiftShader', 'Apple M2', '',
  ])('%s is not taken for another', (name) => expect(datasheetOf(name)).toBeUndefined())
})

it('figures are given in the unit of the ceiling, for the kinds a datasheet has', () => {
  expect(datasheetValue('NVIDIA H200', 'copy')).toBe(4.8e12)
  expect(datasheetValue('NVIDIA H200', 'flops:bf16')).toBe(989.4e12)
  expect(datasheetValue('Tesla T4', 'flops:bf16')).toBeUndefined()
  for (const kind of ['copy:65536', 'cache:L2', 'launch:hot', 'new']) expect(datasheetValue('NVIDIA H200', kind)).toBeUndefined()
  expect(datasheetValue('some GPU', 'copy')).toBeUndefined()
})

it('rates are dense: tensor cores at 16 bits do twice their tf32 rate, not four times', () => {
  for (const name of ['NVIDIA H200', 'NVIDIA H100 PCIe', 'NVIDIA A100-SXM4-80GB', 'NVIDIA L4', 'NVIDIA L40S', 'NVIDIA GeForce RTX 4090']) {
    const { tf32, bf16 } = datasheetOf(name)!.flops
    expect(bf16! / tf32!).toBeCloseTo(2, 1)
  }
})
