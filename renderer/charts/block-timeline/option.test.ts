import { expect, it } from 'vitest'
import type { Timeline, TimelinePart } from '@core/analysis/block-timeline'
import { testCase } from '@core/testing'
import { chartTheme } from '../drawing/theme/theme'
import { blockTimelineCsv, blockTimelineOption, kindOf, type PartDatum } from './option'

const part = (name: string, op: string, startNs: number, ns: number, change: Partial<TimelinePart> = {}): TimelinePart => ({ name, pass: 'forward', case: testCase({ op }), result: `r-${name}`, startNs, ns, share: ns / 400, bytes: 1000, flops: 2000, bytesPerSecond: 1e9, flopsPerSecond: 2e9, ...change })
const timeline: Timeline = {
  key: 'a', work: 'transformer_block 1x64x128x4', case: testCase({ op: 'transformer_block', params: { batch: 1, seq: 64, dim: 128, heads: 4 } }), missing: [], complete: true, forwardNs: 300, backwardNs: 100, whole: { ns: 250, result: 'w' },
  parts: [part('norm1', 'layer_norm', 0, 100), part('qkv', 'matmul', 100, 200, { bound: 'compute', efficiency: 0.5 }), part('norm1_backward', 'layer_norm_backward', 300, 100, { pass: 'backward' })],
}
const data = (layers?: number) => blockTimelineOption([timeline], chartTheme('light'), layers)!.series.flatMap(({ id, data: items }) => (id === 'marks' ? [] : (items as PartDatum[])))

it('draws each part from the end of the one before, leading to its result', () => {
  expect(data().sort((a, b) => a[1] - b[1])).toEqual([[0, 0, 100, 0, 'r-norm1'], [0, 100, 300, 1, 'r-qkv'], [0, 300, 400, 2, 'r-norm1_backward']])
  expect(data(12).find(([, , , , id]) => id === 'r-qkv')!.slice(1, 3)).toEqual([1200, 3600])
})

it('marks the end of the forward pass and the whole op', () => {
  expect(blockTimelineOption([timeline], chartTheme('dark'))!.series.find(({ id }) => id === 'marks')!.data).toEqual([[0, 300, 0], [0, 250, 1]])
})

it('colours a gradient as what it is the gradient of, and tells what binds a part', () => {
  expect(timeline.parts.map(kindOf)).toEqual(['normalization', 'matmul', 'normalization'])
  const { formatter } = blockTimelineOption([timeline], chartTheme('light'))!.tooltip
  expect(formatter({ value: [0, 100, 300, 1, 'r-qkv'] })).toMatch(/qkv \(forward\).*compute.*50/s)
  expect(blockTimelineOption([], chartTheme('light'))).toBeUndefined()
})

it('is a table of its parts as CSV', () => {
  expect(blockTimelineCsv([timeline]).split(/\r?\n/)[2]).toMatch(/^transformer_block 1x64x128x4,.*,forward,qkv,100,200,0.5,1000,2000,compute,0.5$/)
})
