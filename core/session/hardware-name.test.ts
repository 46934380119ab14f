import { expect, it } from 'vitest'
import { shortHardware } from './hardware-name'

it.each([
  ['Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz', 'Intel Xeon Platinum 8481C'],
  ['AMD EPYC 9554 64-Core Processor', 'AMD EPYC 9554'],
  ['AMD Ryzen(TM) 9 7950X 16-Core Processor', 'AMD Ryzen 9 7950X'],
  ['All operations on Intel(R) Xeon(R) Processor, NVIDIA H200', 'All operations on Intel Xeon, NVIDIA H200'],
  ['NVIDIA H200', 'NVIDIA H200'],
  ['add · f32 · Processor sweep', 'add · f32 · Processor sweep'],
])('%s is %s where there is little room', (full, short) => expect(shortHardware(full)).toBe(short))
