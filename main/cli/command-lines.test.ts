import { describe, expect, it } from 'vitest'
import type { Device } from '@core/backend'
import { caseId, type BenchmarkCase } from '@core/case'
import { mix32 } from '@core/values/random'
import { commandLines } from '@core/sweep/command-lines'
import { planSweep } from '@core/sweep/plan'
import { testCase, testDevice, testGpu } from '@core/testing'
import { readPicks, specOf, type SweepOptions } from './options/sweep-options'

const DEVICES: Device[] = [testDevice(), testGpu(), testGpu({ id: 'cuda:1', name: 'Second GPU' })]

/** The options of a line, as the shell and the command line take them apart. */
function optionsOf(line: string): SweepOptions {
  const [, rest] = /^npm run opscope -- run (.*)$/.exec(line)!
  const words = [...rest!.matchAll(/--([a-z-]+) (?:'([^']*)'|(\S+))/g)]
  return Object.fromEntries(words.map(([, name, quoted, plain]) => [name!.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()), quoted ?? plain]))
}

function planned(line: string): BenchmarkCase[] {
  const options = optionsOf(line)
  const plan = planSweep(specOf(readPicks(options, ['cpu', 'cuda']), options, DEVICES).spec, DEVICES)
  expect(plan.problems).toEqual([])
  return plan.cases
}

const EVERYTHING = planSweep(
  {
    ops: [{ op: 'add' }, { op: 'gelu' }, { op: 'softmax' }, { op: 'sum', attributes: { axis: ['last', 'first'] } }, { op: 'matmul' }],
    sizes: { vector: '1000, 2^20, 1234567', matrix: '64x32, 32x64', gemm: '64x64x64, 128x64x32' },
    dtypes: ['f32', 'f16'],
    targets: [{ backend: 'cpu', device: 'cpu', impls: ['scalar', 'avx2'], threads: [1, 2, 4] }, { backend: 'cuda', device: 'cuda:0', impls: ['kernel'] }, { backend: 'cuda', device: 'cuda:1', impls: ['kernel'] }],
    modes: ['cold', 'hot'],
    preset: 'quick',
  },
  DEVICES,
).cases

describe('the commands of a selection', () => {
  it('plan exactly the selected cases, none twice, whether devices are known or not', () => {
    let state = 1
    const random = () => (state = mix32(state + 0x9e3779b9)) / 2 ** 32
    for (let round = 0; round < 60; round++) {
      // From single cases to nearly all, and whole slices that lines can hold.
      const share = random() ** 3
      const slice = [(c: BenchmarkCase) => c.op !== 'matmul', (c: BenchmarkCase) => c.dtype === 'f32', (c: BenchmarkCase) => c.device === 'cpu', () => random() < share][round % 4]!
      const selected = EVERYTHING.filter(slice)
      for (const known of [[], DEVICES]) {
        const { lines, left } = commandLines(selected, { preset: 'standard' }, known)
        expect(left).toEqual([])
        expect(lines.flatMap(planned).map(caseId).sort()).toEqual(selected.map(caseId).sort())
        expect(lines.length).toBeLessThanOrEqual(selected.length)
      }
    }
  })

  it('are one where one says it all', () => {
    const f32 = EVERYTHING.filter((c) => c.dtype === 'f32' && (c.device === 'cpu' || c.op !== 'sum'))
    expect(commandLines(f32.filter((c) => c.device === 'cpu'), { preset: 'quick' }).lines).toHaveLength(1)
    const add = EVERYTHING.filter((c) => c.op === 'add' && c.dtype === 'f32')
    expect(commandLines(add, { preset: 'quick' }, DEVICES).lines).toEqual(["npm run opscope -- run --ops add --sizes '1000, 1048576, 1234567' --dtypes f32 --devices cpu,cuda:0,cuda:1 --impls scalar,avx2,kernel --modes cold,hot --threads 1,2,4 --preset quick"])
    expect(commandLines(add, { preset: 'quick' }).lines).toHaveLength(2)
  })

  it('measure again as it was measured', () => {
    expect(commandLines([testCase()], { preset: 'quick', repeats: 3, measure: { relativeCi: 0.002 } }).lines[0]).toMatch(/ --preset quick --ci 0\.2% --repeats 3$/)
  })

  it('leave out what cannot be asked for, and say why', () => {
    const foreign = testCase({ op: 'BM_memcpy', params: { size: 8 } })
    const odd = testCase({ params: { n: 1000, extra: true } })
    const ceiling = testCase({ op: 'peak_fma', params: { n: 4 } })
    const { lines, left } = commandLines([foreign, odd, ceiling, testCase(), testCase()], { preset: 'quick' })
    expect(lines).toHaveLength(1)
    expect(left.map(({ reason }) => reason)).toEqual(['BM_memcpy is no operation of Opscope', 'its parameters are not a size and attributes of add', 'peak_fma is measured with the ceilings, not picked'])
  })
})
