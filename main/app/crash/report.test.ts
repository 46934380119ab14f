import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CrashReports, keepLines, type ReportSources } from './report'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-crash-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const sources = (part: Partial<ReportSources> = {}): ReportSources => ({
  folder: join(folder, 'crashes'),
  log: () => ['opscope: could not read /home/jane/secret/results.json', 'jane@example.com asked workstation7'],
  environment: () => ({ host: 'workstation7', os: 'Debian', cpu: 'AMD EPYC', switches: ['--user-data-dir=/home/jane/data'] }),
  versions: { app: '0.1.0', electron: '33.2.1' },
  names: { hosts: ['workstation7'], users: ['jane'], serials: [] },
  program: '/home/jane/opscope',
  ...part,
})
const error = () => Object.assign(new Error('no such thing in /home/jane/Documents/thesis'), { stack: 'Error: no such thing in /home/jane/Documents/thesis\n    at read (file:///home/jane/opscope/out/main/index.js:12:34)' })
const textOf = (at: string) => readdirSync(at).map((name) => readFileSync(join(at, name), 'utf8')).join('\n')

describe('a crash report', () => {
  it('has the fault, the log, versions and the environment, and no name or path of a person or machine', () => {
    const report = new CrashReports(sources()).write({ what: 'An error in the main process', error: error() })!
    expect(readdirSync(report.folder).sort()).toEqual(['environment.json', 'fault.txt', 'log.txt', 'versions.json'])
    const text = textOf(report.folder)
    expect(text).toContain('opscope:/out/main/index.js:12:34')
    for (const kept of ['An error in the main process', 'no such thing', '33.2.1', 'AMD EPYC', 'could not read']) expect(text).toContain(kept)
    for (const personal of ['jane', 'workstation7', '/home', 'thesis', 'secret', 'example.com']) expect(text).not.toContain(personal)
  })

  it('is written once for a fault that comes again and again', () => {
    let seconds = 0
    const reports = new CrashReports(sources({ now: () => new Date(Date.UTC(2030, 0, 1, 0, 0, seconds)) }))
    const outcomes = [0, 5, 59, 120].map((second) => {
      seconds = second
      return reports.write({ what: 'An error', error: error() }) !== undefined
    })
    expect(outcomes).toEqual([true, false, false, true])
    expect(reports.last!.at).toBe('2030-01-01T00:02:00.000Z')
  })

  it('takes the place of the oldest beyond ten', () => {
    let day = 0
    const reports = new CrashReports(sources({ now: () => new Date(Date.UTC(2030, 0, day)) }))
    for (day = 1; day <= 12; day++) reports.write({ what: `Fault ${day}` })
    expect(readdirSync(join(folder, 'crashes'))).toHaveLength(10)
    expect(readdirSync(join(folder, 'crashes'))[0]).toMatch(/^2030-01-03/)
  })

  it('is one of twenty of a start at most, whatever a page sends', () => {
    const reports = new CrashReports(sources())
    expect(Array.from({ length: 30 }, (_, i) => reports.write({ what: `Fault ${i}` })).filter(Boolean)).toHaveLength(20)
  })

  it('causes no further fault where it cannot be written', () => {
    writeFileSync(join(folder, 'file'), '')
    expect(new CrashReports(sources({ folder: join(folder, 'file', 'crashes') })).write({ what: 'An error' })).toBeUndefined()
  })
})

it('the last lines of a stream are kept, and all still reach it', () => {
  const reached: string[] = []
  const stream = { write: (chunk: string | Uint8Array) => reached.push(String(chunk)) > 0 }
  const lines = keepLines(stream, 3)
  for (const text of ['a\n', 'b\nc\n', 'd\n']) stream.write(text)
  expect([reached.join(''), lines()]).toEqual(['a\nb\nc\nd\n', ['b', 'c', 'd']])
})
