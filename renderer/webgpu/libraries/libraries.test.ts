import { afterEach, describe, expect, it, vi } from 'vitest'
import { exampleParams } from '@core/ops/testing'
import { getOp } from '@core/ops/registry'
import { tensorsOf } from '@core/ops/define'
import { problemOf } from '@core/backend'
import type { Gpu } from '../gpu/gpu'
import type { Memory } from '../sets/memory'
import { bindLibrary } from './bind'
import { findLibraries } from './find'
import { LIBRARY_OPS } from './table'

const answering = (answer: Response) => vi.stubGlobal('fetch', () => Promise.resolve(answer))
afterEach(() => vi.unstubAllGlobals())

describe('findLibraries', () => {
  it('offers what is installed, and for what is not the command that installs it', async () => {
    answering(Response.json({ folder: '/data/web', versions: { 'onnxruntime-web': '1.30.0', '@tensorflow/tfjs-core': '4.22.0' } }))
    const [ort, tf] = await findLibraries()
    expect(ort).toMatchObject({ id: 'onnxruntime-web', title: 'ONNX Runtime Web 1.30.0', library: expect.anything() })
    expect(ort!.available).toBeUndefined()
    expect(tf!.available).toEqual({ ok: false, reason: 'TensorFlow.js is not installed: npm install --prefix "/data/web" @tensorflow/tfjs-core @tensorflow/tfjs-backend-webgpu' })
    expect([ort!.preferred(true), tf!.preferred(false)]).toEqual([false, false])
  })

  it('offers none where nobody serves them, also where a server answers every address with a page', async () => {
    answering(new Response('Not found', { status: 404 }))
    expect(await findLibraries()).toEqual([])
    answering(new Response('<!doctype html>'))
    expect(await findLibraries()).toEqual([])
  })
})

describe('the ops of libraries', () => {
  it('see every tensor of ours whole, under shapes of their own', () => {
    let checked = 0
    for (const [id, entry] of Object.entries(LIBRARY_OPS)) {
      const op = getOp(id)
      for (const params of exampleParams(op).map((example) => op.params.parse(example))) {
        const shapes = entry.shapes({ dtype: 'f32', dims: op.dims(params), scalars: op.scalars?.(params) ?? [] })
        if (!shapes) continue
        checked++
        const count = (shape: readonly number[]) => shape.reduce((product, extent) => product * extent, 1)
        const tensors = tensorsOf(op, params, 'f32')
        expect([...shapes.inputs, shapes.output].map(count), id).toEqual(tensors.slice(0, shapes.inputs.length).concat(tensors.find(({ role }) => role === 'out')!).map(({ elements }) => elements))
        expect(shapes.inputs.length, id).toBe(tensors.filter(({ role }) => role === 'in').length)
      }
    }
    expect(checked).toBeGreaterThan(100)
  })
})

describe('bindLibrary', () => {
  it('refuses a call that does not end in ten seconds, and frees what the library holds', async () => {
    vi.useFakeTimers()
    try {
      const dispose = vi.fn(() => Promise.resolve())
      const call = vi.fn(() => Promise.resolve())
      const library = { id: 'slow', title: 'Slow', packages: [], has: () => true, open: () => Promise.resolve({ call, dispose }) }
      const gpu = { device: { adapterInfo: {}, queue: { onSubmittedWorkDone: () => new Promise<undefined>(() => undefined) } } } as unknown as Gpu
      const problem = problemOf(getOp('exp'), { op: 'exp', params: { n: 8 }, dtype: 'f32', backend: 'webgpu', impl: 'slow', device: 'webgpu:0', mode: 'hot' }, 1)
      const memory = { sets: [{ inputs: [{}], outputs: [{}] }] } as unknown as Memory
      const bound = expect(bindLibrary(gpu, { library, address: () => '' }, problem, memory)).rejects.toThrow('One call of Slow takes longer than 10 s')
      await vi.advanceTimersByTimeAsync(10_001)
      await bound
      expect([call.mock.calls.length, dispose.mock.calls.length]).toEqual([1, 1])
    } finally {
      vi.useRealTimers()
    }
  })
})
