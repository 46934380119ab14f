import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sessionFileSchema, type SessionFile } from '@core/session/types'
import { Cli } from './cli'

/** Five cases of a few samples: what is looked at is the gate, not the figures. */
const SUITE = ['run', '--suite', 'comprehensive', '--quick', '--where', 'dimension=64', '--rule', 'fixed-count=5']

describe('a suite as a gate', () => {
  const cli = new Cli()
  const reports = join(cli.folder, 'reports')

  /** Writes the session of the first run with all times so many times as long. */
  const slowed = (name: string, factor: number, change?: (file: SessionFile) => void): string => {
    const file = sessionFileSchema.parse(JSON.parse(readFileSync(join(reports, 'comprehensive.opscope.json'), 'utf8')))
    for (const result of file.results) {
      result.samplesNs = result.samplesNs.map((ns) => ns * factor)
      for (const [key, value] of Object.entries(result.summary!)) if (key.endsWith('Ns') && typeof value === 'number') Object.assign(result.summary!, { [key]: value * factor })
    }
    change?.(file)
    const path = join(cli.folder, name)
    writeFileSync(path, JSON.stringify(file))
    return path
  }

  test('the first run is the baseline, and leaves its reports in the folder', async () => {
    const { status, out, err } = await cli.run([...SUITE, '--baseline', 'previous', '--out', reports])
    expect(err).toContain('there is no earlier complete session of Comprehensive CUDA/Triton benchmark with a case of this one')
    expect([status, out]).toEqual([0, expect.stringContaining('5 of 5 results passed verification')])
    for (const name of ['comprehensive.md', 'comprehensive.json', 'comprehensive.svg', 'comprehensive.html', 'comprehensive.opscope.json', 'comprehensive.results.json']) expect(existsSync(join(reports, name)), name).toBe(true)
    expect(JSON.parse(readFileSync(join(reports, 'comprehensive.json'), 'utf8'))).toMatchObject({ suite: { id: 'comprehensive' }, parts: [{ title: 'Summary' }, { title: 'Times' }, { title: 'Peak memory' }, { title: 'Red flags' }] })
  })

  test('the next is compared with it, and passes where the threshold is wide', async () => {
    // Other programs may make any run twice as slow as the one before. Beside times three times as long it is as far from either end of the threshold: it stays the same, six times slower or faster.
    await cli.run(['import', slowed('before.opscope.json', 3, ({ session }) => (session.createdAt = new Date(Date.parse(session.createdAt) + 1).toISOString()))])
    const { status, out } = await cli.run([...SUITE, '--baseline', 'previous', '--threshold', '95%'])
    expect([status, out]).toEqual([0, expect.stringMatching(/A: .*\nB: /)])
  })

  test('a regression against a file is exit status 3, with the cases on stderr', async () => {
    const baseline = slowed('fast.opscope.json', 1 / 1000)
    const { status, err } = await cli.run([...SUITE, '--baseline', baseline, '--fail-on', 'slower'])
    // On a loaded machine some of the five stay unclear.
    expect([status, err]).toEqual([3, expect.stringMatching(/[1-5] cases? (?:is|are) slower:\n +▼ \w+ \S+ f32 cpu /)])
  })

  test('a part of a suite is measured by operation and dtype, and its sizes only where it has classes of them', async () => {
    const cases = async (...args: string[]) => {
      const { out } = await cli.run(['run', '--suite', ...args, '--dry-run', '--json'])
      return (JSON.parse(out) as { cases: { op: string; dtype: string; device: string; params: Record<string, number> }[] }).cases
    }
    const small = await cases('genesis', '--sizes', 'small', '--ops', 'add,matmul', '--dtypes', 'f16', '--backends', 'cpu')
    expect(new Set(small.map(({ op, dtype, device }) => `${op} ${dtype} ${device}`))).toEqual(new Set(['add f16 cpu', 'matmul f16 cpu']))
    expect(small.find(({ op }) => op === 'add')!.params).toMatchObject({ n: 1048576 })
    expect((await cases('transformer-block', '--sizes', '1x32x64x4', '--backends', 'cpu')).find(({ op }) => op === 'scaled_dot_product_attention')!.params).toMatchObject({ heads: 4, headDim: 16 })
  })

  test('a run that is given less time than it needs keeps what it has, with its reports', async () => {
    const { status, err } = await cli.run(['run', '--suite', 'comprehensive', '--backends', 'cpu', '--stop-after', '8', '--out', join(cli.folder, 'part')])
    expect([status, err]).toEqual([0, expect.stringMatching(/ of \d+ cases in .*go on with: opscope resume/)])
    expect(readFileSync(join(cli.folder, 'part', 'comprehensive.md'), 'utf8')).toContain('results passed verification')
  })

  test('a pinned baseline is compared with after every run of its cases, and can be the gate', async () => {
    // Scripted times: on a loaded machine two runs of five real samples may be twice as far apart.
    const RUN = ['run', '--ops', 'add', '--sizes', 'vector=4096', '--backends', 'fake', '--impls', 'steady', '--modes', 'hot', '--rule', 'fixed-count=5']
    await cli.run(RUN)
    expect((await cli.run(['baseline', 'pin', 'last', '--project', 'gate'])).out).toContain('is the baseline of “gate”')
    expect((await cli.run(RUN)).err).toContain('the baseline of “gate” (1 compared)')
    const { status, out } = await cli.run([...RUN, '--baseline', 'pinned', '--threshold', '95%'])
    expect([status, out]).toEqual([0, expect.stringMatching(/A: .*\nB: /)])
    expect((await cli.run(['baseline'])).out).toContain('gate')
    expect((await cli.run(['baseline', 'unpin', 'gate'])).status).toBe(0)
    expect((await cli.run(['baseline', 'list'])).err).toContain('no baseline is pinned')
  })

  test('options that mean nothing together are refused before anything is measured', async () => {
    for (const [args, message] of [
      [['--suite', 'genesis', '--where', 'batch=16'], '--where: this suite has no batch'],
      [['--suite', 'comprehensive', '--where', 'batch=17'], '--where: batch 17: this suite has 16, 32, 64, 128'],
      [['--suite', 'trueno', '--fail-on', 'slower'], '--fail-on belongs to --baseline'],
      [['--suite', 'trueno', '--ops', 'matmul'], 'unknown operation of this suite "matmul"'],
      [['--suite', 'comprehensive', '--sizes', '64x64'], 'defines its own sizes; remove --sizes, or use --where'],
      [['--ops', 'add', '--baseline', 'previous'], '--baseline previous belongs to --suite'],
    ] as const) {
      const { status, err } = await cli.run(['run', ...args])
      expect([status, err]).toEqual([2, expect.stringContaining(message)])
    }
  })
})
