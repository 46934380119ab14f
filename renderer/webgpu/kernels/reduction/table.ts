import { dimOf, type Kernel, type KernelShape, type Program, type Step } from '../types'
import { columnGroups, FOLDS, type Pair, type Fold } from './fold'
import { findExtreme, type Search } from './extreme'
import { FoldSteps, pieces, SHORTEST_COLUMN, SHORTEST_RUN, type Float, type Held } from './steps'

const floatOf = (shape: KernelShape): Float => (shape.dtype === 'f16' ? 'f16' : 'f32')

/** [groups, outer, reduce, inner] of x: results are folds over groups and reduce. */
interface Geometry {
  outer: number
  reduce: number
  inner: number
  groups: number
}

const geometryOf = (shape: KernelShape): Geometry => ({ outer: dimOf(shape, 0), reduce: dimOf(shape, 1), inner: dimOf(shape, 2), groups: shape.dims[3] ?? 1 })

const folding = (fold: Fold): Kernel => ({
  dtypes: ['f32', 'f16'],
  build: (shape): Program => {
    const { outer, reduce, inner, groups } = geometryOf(shape)
    const steps = new FoldSteps(fold, floatOf(shape), groups * reduce)
    const x: Held = { from: { input: 0 }, type: floatOf(shape) }
    const whole = groups === 1
    const part = inner === 1 ? steps.rows(x, groups * outer, reduce, whole) : steps.columns(x, groups * outer, reduce, inner, whole)
    if (!whole) steps.columns(part, 1, groups, outer * inner, true)
    return steps
  },
})

/** A fold of what two vectors make element by element. */
const paired = (fold: Fold, of: Pair['of']): Kernel => ({
  dtypes: ['f32', 'f16'],
  build: (shape): Program => {
    const n = dimOf(shape, 0)
    const steps = new FoldSteps(fold, floatOf(shape), n)
    steps.rows({ from: { input: 0 }, type: floatOf(shape) }, 1, n, true, { from: { input: 1 }, of })
    return steps
  },
})

const extreme = (better: '>' | '<'): Kernel => ({
  dtypes: ['f32', 'f16'],
  build: (shape): Program => {
    const { outer, reduce, inner, groups } = geometryOf(shape)
    const outputs = groups * outer * inner
    const scratchBytes: number[] = []
    const steps: Step[] = []
    // Pairs of values and indices on the way: each step leaves fewer of them, the last one the indices alone.
    let source: Parameters<typeof findExtreme>[2] = { x: { input: 0 }, type: floatOf(shape) }
    const search = (geometry: Search, results: number, last: boolean) => {
      const pairs = { values: { scratch: scratchBytes.length }, indices: { scratch: scratchBytes.length + 1 } }
      steps.push(findExtreme(better, geometry, source, last ? { indices: 'output' } : pairs))
      if (last) return
      scratchBytes.push(results * 4, results * 4)
      source = pairs
    }
    const rows = groups * outer
    const parts = inner === 1 ? pieces(reduce, 4 * SHORTEST_RUN, rows) : pieces(reduce, SHORTEST_COLUMN, rows * columnGroups(inner))
    const whole = groups === 1
    search({ outer: rows, reduce, inner, parts }, outputs * parts, parts === 1 && whole)
    if (parts > 1) search({ outer: rows, reduce: parts, inner, parts: 1 }, outputs, whole)
    if (!whole) search({ outer: 1, reduce: groups, inner: outer * inner, parts: 1, span: reduce }, outer * inner, true)
    return { scratchBytes, steps }
  },
})

const kernels: Readonly<Record<string, Kernel>> = {
  ...Object.fromEntries(Object.entries(FOLDS).map(([op, fold]) => [op, folding(fold)])),
  // The gradient of a broadcast is a sum under another name.
  sum_to_shape: folding(FOLDS['sum']!),
  dot: paired(FOLDS['sum']!, (a, b) => `${a} * ${b}`),
  mse_loss: paired(FOLDS['mean']!, (a, b) => `(${a} - ${b}) * (${a} - ${b})`),
  argmax: extreme('>'),
  argmin: extreme('<'),
}
export default kernels
