import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sweepFileSchema } from '@core/sweep/capture'
import { Cli } from './cli'

const SCRIPT = resolve(import.meta.dirname, '../fixtures/capture/encoder.py')
const python = process.env['OPSCOPE_TEST_PYTHON'] ?? 'python3'
const hasTorch = spawnSync(python, ['-c', 'import torch.utils._python_dispatch']).status === 0

test('a program that is no Python is refused, and one without a script', async () => {
  const cli = new Cli()
  for (const command of [['bash', 'x.sh'], ['python3']]) {
    const { status, err } = await cli.run(['capture', '--', ...command])
    expect([status, err]).toEqual([2, expect.stringContaining('capture expects a Python and a script')])
  }
})

test('a script that is not there is refused before anything is written', async () => {
  const cli = new Cli()
  const { status, err } = await cli.run(['capture', '--out', join(cli.folder, 'x.sweep.json'), '--', 'python3', join(cli.folder, 'missing.py')])
  expect([status, err]).toEqual([2, expect.stringMatching(/^opscope: there is no script .*missing\.py\n$/)])
  expect(existsSync(join(cli.folder, 'x.sweep.json'))).toBe(false)
})

// Without PyTorch there is nothing to capture; core/sweep/capture.test.ts maps what two versions of it recorded.
describe.skipIf(!hasTorch)(`shapes of a script under ${python}, which needs PyTorch`, () => {
  const cli = new Cli()
  const out = join(cli.folder, 'encoder.sweep.json')

  test('are written as a sweep, with what is outside the catalogue', async () => {
    const { status, out: printed, err } = await cli.run(['capture', '--out', out, '--', python, SCRIPT])
    expect([status, err]).toEqual([0, expect.stringContaining(`measure it with: opscope run --plan ${out}`)])
    expect(printed).toMatch(/^loss True$/m)
    expect(printed).toMatch(/conv2d +n=2 c=3 hw=32 k=16 s=2[^\n]*f32 +1\n/)
    expect(printed).toMatch(/Outside the catalogue:[^]*aten\.special_bessel_j0\.default +1/)
    expect(sweepFileSchema.parse(JSON.parse(readFileSync(out, 'utf8')))).toMatchObject({ name: 'Shapes of encoder.py' })
  })

  test('are measured as they were called', async () => {
    const { status, out: printed } = await cli.run(['run', '--plan', out, '--backends', 'cpu', '--modes', 'hot', '--preset', 'quick', '--dry-run'])
    expect([status, printed]).toEqual([0, expect.stringMatching(/\d+ cases/)])
    const refused = await cli.run(['run', '--plan', out, '--ops', 'add'])
    expect([refused.status, refused.err]).toEqual([2, expect.stringContaining('defines the sweep; remove --ops')])
  })

  test('of a script that fails are kept until there, and its exit status is not hidden', async () => {
    const failing = join(cli.folder, 'failing.py')
    writeFileSync(failing, 'import torch\ntorch.zeros(4, 8).softmax(-1)\nraise ValueError("no data")\n')
    const kept = join(cli.folder, 'failing.sweep.json')
    const { status, err } = await cli.run(['capture', '--out', kept, '--', python, failing])
    expect([status, err]).toEqual([1, expect.stringMatching(/Traceback[^]*the script ended with an error: ValueError: no data; what it called until then is kept/)])
    expect(existsSync(kept)).toBe(true)
    expect(sweepFileSchema.parse(JSON.parse(readFileSync(kept, 'utf8'))).picks.ops).toEqual([{ op: 'softmax', sizes: '4x8', dtypes: ['f32'] }])
  })
})
