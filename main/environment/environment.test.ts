import { expect, test } from 'vitest'
import { environmentSchema } from '@core/session/types'
import { readEnvironment } from '.'
import { parseCpuInfo, parseOsRelease } from './os-name'

test('the record of this machine fits the session format and says what a reader needs', () => {
  const environment = environmentSchema.parse(readEnvironment([]))
  expect(environment.cpu).toMatch(/\S/)
  expect(environment.logicalCpus).toBeGreaterThan(0)
  expect(environment.memoryBytes).toBeGreaterThan(1e8)
  expect(environment.node).toBe(process.versions.node)
  expect(environment.electron).toBeUndefined()
})

test('names are read from Linux system files in the forms they come in', () => {
  expect(parseOsRelease('NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 13 (trixie)"\n')).toBe('Debian GNU/Linux 13 (trixie)')
  expect(parseOsRelease('PRETTY_NAME=Alpine\n')).toBe('Alpine')
  expect(parseOsRelease('NAME=x')).toBeUndefined()
  expect(parseCpuInfo('processor\t: 0\nmodel name\t: AMD EPYC 7B13\n')).toBe('AMD EPYC 7B13')
  expect(parseCpuInfo('processor\t: 0\nHardware\t: BCM2835\n')).toBe('BCM2835')
  expect(parseCpuInfo('processor\t: 0\n')).toBeUndefined()
})
