import { describe, expect, it } from 'vitest'
import { MAX_RECENT_SWEEPS, MAX_SAVED_SWEEPS, renameSweep, sameSweep, savedSweepsSchema, withRecent, withSweep } from './sweeps'
import type { SweepSpec } from '../sweep-spec'

const spec = (op: string, more: Partial<SweepSpec> = {}): SweepSpec => ({ ops: [{ op }], sizes: { vector: '64' }, dtypes: ['f32'], targets: [{ backend: 'cpu', device: 'cpu', impls: ['avx2'] }], modes: ['hot'], preset: 'quick', ...more })

describe('saved sweeps', () => {
  it('stand by name, each name once', () => {
    const list = withSweep(withSweep(withSweep([], ' b ', spec('add')), 'a 10', spec('exp')), 'a 9', spec('gelu'))
    expect(list.map(({ name }) => name)).toEqual(['a 9', 'a 10', 'b'])
    const replaced = withSweep(list, 'b', spec('tanh'))
    expect(replaced.map(({ name, spec: own }) => [name, own.ops[0]!.op])).toEqual([['a 9', 'gelu'], ['a 10', 'exp'], ['b', 'tanh']])
    expect(savedSweepsSchema.safeParse(replaced).success).toBe(true)
  })

  it('refuse a name that is empty, too long or taken, and more than there is room for', () => {
    expect(() => withSweep([], '  ', spec('add'))).toThrow('needs a name')
    expect(() => withSweep([], 'x'.repeat(81), spec('add'))).toThrow('at most 80 characters')
    const two = withSweep(withSweep([], 'a', spec('add')), 'b', spec('exp'))
    expect(() => renameSweep(two, 'a', 'b')).toThrow('already')
    const full = Array.from({ length: MAX_SAVED_SWEEPS }, (_, i) => ({ name: `sweep ${i}`, spec: spec('add') }))
    expect(() => withSweep(full, 'one more', spec('add'))).toThrow('Delete one first')
    expect(withSweep(full, 'sweep 3', spec('exp'))).toHaveLength(MAX_SAVED_SWEEPS)
  })

  it('are renamed in place of the old name', () => {
    const two = withSweep(withSweep([], 'a', spec('add')), 'b', spec('exp'))
    expect(renameSweep(two, 'a', ' c ').map(({ name, spec: own }) => [name, own.ops[0]!.op])).toEqual([['b', 'exp'], ['c', 'add']])
    expect(renameSweep(two, 'gone', 'c')).toEqual(two)
  })
})

describe('recent sweeps', () => {
  it('begin with the last, each once, and are few', () => {
    let recent: SweepSpec[] = []
    for (let i = 0; i < 12; i++) recent = withRecent(recent, spec('add', { sizes: { vector: String(i) } }))
    recent = withRecent(recent, spec('add', { sizes: { vector: '7' } }))
    expect(recent).toHaveLength(MAX_RECENT_SWEEPS)
    expect(recent.map(({ sizes }) => sizes['vector'])).toEqual(['7', '11', '10', '9', '8', '6', '5', '4'])
  })

  it('are the same whatever the order of their keys and whether a key is absent or undefined', () => {
    expect(sameSweep(spec('add'), JSON.parse('{"preset":"quick","modes":["hot"],"targets":[{"impls":["avx2"],"device":"cpu","backend":"cpu"}],"dtypes":["f32"],"sizes":{"vector":"64"},"ops":[{"op":"add"}]}') as SweepSpec)).toBe(true)
    expect(sameSweep(spec('add'), { ...spec('add'), repeats: undefined })).toBe(true)
    expect(sameSweep(spec('add'), spec('add', { repeats: 2 }))).toBe(false)
  })
})
