import { expect, it } from 'vitest'
import { shortDifference, shortHardware } from './hardware-name'

it.each([
  ['Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz', 'Intel Xeon Platinum 8481C'],
  ['AMD EPYC 9554 64-Core Processor', 'AMD EPYC 9554'],
  ['AMD Ryzen(TM) 9 7950X 16-Core Processor', 'AMD Ryzen 9 7950X'],
  ['All operations on Intel(R) Xeon(R) Processor, NVIDIA H200', 'All operations on Intel Xeon, NVIDIA H200'],
  ['NVIDIA H200', 'NVIDIA H200'],
  ['add · f32 · Processor sweep', 'add · f32 · Processor sweep'],
])('%s is %s where there is little room', (full, short) => expect(shortHardware(full)).toBe(short))

it.each([
  ['Cache flush of NVIDIA H200: 256 MiB written in “a on Intel(R) Xeon(R) Processor, NVIDIA H200”, 128 MiB written in “b on AMD EPYC 9554 64-Core Processor”.', 'Cache flush of NVIDIA H200: 256 MiB written in “a on Intel Xeon, NVIDIA H200”, 128 MiB written in “b on AMD EPYC 9554”.'],
  ['Threads of AMD EPYC 9554 64-Core Processor: 64 in the baseline, 32 in the other session.', 'Threads of AMD EPYC 9554: 64 in the baseline, 32 in the other session.'],
  ['CPU: AMD EPYC 9V64 96-Core Processor in “a”, AMD EPYC 9V64 48-Core Processor in “b”.', 'CPU: AMD EPYC 9V64 96-Core Processor in “a”, AMD EPYC 9V64 48-Core Processor in “b”.'],
])('%s is told with short names, and values in full', (full, short) => expect(shortDifference(full)).toBe(short))
