import { describe, expect, it } from 'vitest'
import { testCase, testResult } from '../../testing'
import { caseName, figuresPerCase } from './per-case'

const at = (medianNs: number, change = {}) => testResult({ summary: { medianNs, ciLowNs: medianNs - 1, ciHighNs: medianNs + 2 }, ...change })

describe('names', () => {
  it('do not depend on the order of parameters', () => {
    expect(caseName(testCase({ params: { b: 2, a: 1 } }))).toBe(caseName(testCase({ params: { a: 1, b: 2 } })))
  })

  it('tell apart what separators inside of names could make alike', () => {
    const changes: Parameters<typeof testCase>[0][] = [{ op: 'a/b' }, { op: 'a', params: { b: 1 } }, { op: 'a', params: {} }, { params: { 'a=b': 'c' } }, { params: { a: 'b=c' } }, { threads: undefined }, { params: { n: 1000, x: 'f32' } }]
    const names = changes.map((change) => caseName(testCase(change)))
    expect(new Set(names).size).toBe(names.length)
  })

  it('stay short and different however long the texts', () => {
    const long = (last: string) => caseName(testCase({ params: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`parameter-${i}`, 'x'.repeat(39) + last])) }))
    expect(long('a')).toHaveLength(400)
    expect(long('a')).not.toBe(long('b'))
  })
})

describe('figures', () => {
  it('one case measured three times has one figure, in the middle, whose interval says how runs differ', () => {
    const [figure, ...others] = figuresPerCase([at(100, { run: 0 }), at(130, { run: 1 }), at(110, { run: 2 })])
    expect(others).toEqual([])
    expect(figure?.medianNs).toBe(110)
    // Geometric mean 112.7 times exp(±4.303 * 0.1329 / sqrt(3)): Student's t of two degrees.
    expect(figure?.lowNs).toBeCloseTo(81.0, 1)
    expect(figure?.highNs).toBeCloseTo(156.7, 1)
    expect(figure?.results).toHaveLength(3)
  })

  it('measured twice: an interval that holds both of theirs', () => {
    expect(figuresPerCase([at(100, { run: 0 }), at(130, { run: 1 })])[0]).toMatchObject({ medianNs: 115, lowNs: 99, highNs: 132 })
  })

  it('only right results count', () => {
    expect(figuresPerCase([at(1, { status: 'wrong' }), at(2, { status: 'failed', summary: undefined })])).toEqual([])
    expect(figuresPerCase([at(1, { status: 'wrong' }), at(7)])[0]?.medianNs).toBe(7)
  })

  it('has no interval where none was measured', () => {
    const [figure] = figuresPerCase([testResult({ summary: { medianNs: 5 } })])
    expect(figure).not.toHaveProperty('lowNs')
  })
})
