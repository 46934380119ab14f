import { describe, expect, test } from 'vitest'
import { formatOf, readFailOn, readFilter, readOpThresholds, readThreshold } from './compare-options'
import { UsageError } from './choices'

describe('options of compare', () => {
  test('thresholds are shares, of all or of single operations', () => {
    expect([readThreshold('2%'), readThreshold('0.02'), readThreshold('.5 %')]).toEqual([0.02, 0.02, 0.005])
    expect(readOpThresholds('softmax=3%, add=0.005')).toEqual({ softmax: 0.03, add: 0.005 })
    // Benchmarks of other tools may have "=" in their names.
    expect(readOpThresholds('BM_copy/n=8=10%')).toEqual({ 'BM_copy/n=8': 0.1 })
    for (const text of ['softmax', '=3%', 'softmax=3x', 'softmax=200%', '']) expect(() => readOpThresholds(text)).toThrow(UsageError)
    expect(() => readOpThresholds('softmax=3x')).toThrow('--per-op-threshold of softmax expects a share such as 2% or 0.02, received "3x"')
  })

  test('what to fail on is named, never guessed', () => {
    expect(readFailOn('slower,wrong')).toEqual(['slower', 'wrong'])
    expect(() => readFailOn('slow')).toThrow(/unknown verdict to fail on "slow"\. Did you mean "slower"\? Choose from: slower, faster, wrong, ambiguous/)
  })

  test('one format at a time', () => {
    expect([formatOf({}), formatOf({ json: true }), formatOf({ format: 'markdown' }), formatOf({ format: 'json', json: true })]).toEqual(['text', 'json', 'markdown', 'json'])
    expect(() => formatOf({ format: 'markdown', json: true })).toThrow('exclude each other')
    expect(() => formatOf({ format: 'pdf' })).toThrow('unknown format "pdf"')
  })

  test('a subset only where one was asked for', () => {
    expect(readFilter({})).toBeUndefined()
    expect(readFilter({ ops: 'softmax,add', backends: 'cpu' })).toEqual({ op: ['softmax', 'add'], backend: ['cpu'] })
  })
})
