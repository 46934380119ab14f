import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sessionFileSchema } from '@core/session/types'
import { Cli } from './cli'

/** Five cases of a few samples: what is looked at is the gate, not the figures. */
const SUITE = ['run', '--suite', 'comprehensive', '--quick', '--where', 'dimension=64', '--rule', 'fixed-count=5']

describe('a suite as a gate', () => {
  const cli = new Cli()
  const reports = join(cli.folder, 'reports')

  test('the first run is the baseline, and leaves its reports in the folder', async () => {
    const { status, out, err } = await cli.run([...SUITE, '--baseline', 'previous', '--out', reports])
    expect(err).toContain('there is no earlier complete session of Comprehensive CUDA/Triton benchmark with the same cases')
    expect([status, out]).toEqual([0, expect.stringContaining('5 of 5 results passed verification')])
    for (const name of ['comprehensive.md', 'comprehensive.json', 'comprehensive.html', 'comprehensive.opscope.json', 'comprehensive.results.json']) expect(existsSync(join(reports, name)), name).toBe(true)
    expect(JSON.parse(readFileSync(join(reports, 'comprehensive.json'), 'utf8'))).toMatchObject({ suite: { id: 'comprehensive' }, parts: [{ title: 'Summary' }, { title: 'Times' }, { title: 'Red flags' }] })
  })

  test('the next is compared with it, and passes where the threshold is wide', async () => {
    const { status, out } = await cli.run([...SUITE, '--baseline', 'previous', '--threshold', '95%'])
    expect([status, out]).toEqual([0, expect.stringMatching(/A: .*\nB: /)])
  })

  test('a regression against a file is exit status 3, with the cases on stderr', async () => {
    const file = sessionFileSchema.parse(JSON.parse(readFileSync(join(reports, 'comprehensive.opscope.json'), 'utf8')))
    const faster = (ns: number) => ns / 1000
    for (const result of file.results) {
      result.samplesNs = result.samplesNs.map(faster)
      for (const [name, value] of Object.entries(result.summary!)) if (name.endsWith('Ns') && typeof value === 'number') Object.assign(result.summary!, { [name]: faster(value) })
    }
    const baseline = join(cli.folder, 'fast.opscope.json')
    writeFileSync(baseline, JSON.stringify(file))
    const { status, err } = await cli.run([...SUITE, '--baseline', baseline, '--fail-on', 'slower'])
    expect([status, err]).toEqual([3, expect.stringMatching(/5 cases are slower:\n[^]*layer_norm/)])
  })

  test('options that mean nothing together are refused before anything is measured', async () => {
    for (const [args, message] of [
      [['--suite', 'genesis', '--where', 'batch=16'], '--where: this suite has no batch'],
      [['--suite', 'comprehensive', '--where', 'batch=17'], '--where: batch 17: this suite has 16, 32, 64, 128'],
      [['--suite', 'trueno', '--fail-on', 'slower'], '--fail-on belongs to --baseline'],
      [['--ops', 'add', '--baseline', 'previous'], '--baseline belongs to --suite; use opscope compare'],
    ] as const) {
      const { status, err } = await cli.run(['run', ...args])
      expect([status, err]).toEqual([2, expect.stringContaining(message)])
    }
  })
})
