import { elementwise } from '../../wgsl/elementwise'
import { dimOf, type Kernel, type KernelShape, type Program } from '../types'
import { extremes } from './extreme'
import { type Fold, FOLDS, type Pair } from './fold'
import { type Float, FoldSteps, type Geometry, GROUPED_ELEMENTS, GROUPED_RESULT, type Held, LONG_RUN } from './steps'

const floatOf = (shape: KernelShape): Float => (shape.dtype === 'f16' ? 'f16' : 'f32')

/** Groups of single elements are the rows of columns. */
function geometryOf(shape: KernelShape): Geometry {
  const [outer, reduce, inner, groups] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2), shape.dims[3] ?? 1]
  return groups > 1 && reduce === 1 ? { outer: 1, reduce: groups, inner: outer * inner, groups: 1 } : { outer, reduce, inner, groups }
}

const folding = (fold: Fold): Kernel => ({
  dtypes: ['f32', 'f16'],
  build: (shape): Program => {
    const { outer, reduce, inner, groups } = geometryOf(shape)
    if (groups * reduce === 1) return elementwise({ inputs: 1, expression: fold.finish(fold.take('a'), '1.0') }).build({ ...shape, dims: [outer * inner] })
    const steps = new FoldSteps(shape, fold, floatOf(shape), groups * reduce)
    const x: Held = { from: { input: 0 }, type: floatOf(shape) }
    const whole = groups === 1
    if (!whole && inner === 1 && groups * reduce <= GROUPED_RESULT && (reduce >= LONG_RUN || groups * outer * reduce <= GROUPED_ELEMENTS)) {
      steps.grouped(x, groups, outer, reduce)
      return steps
    }
    if (!whole && inner === 1 && steps.rowsOfGroups(x, groups, outer, reduce)) return steps
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
    const steps = new FoldSteps(shape, fold, floatOf(shape), n)
    steps.rows({ from: { input: 0 }, type: floatOf(shape) }, 1, n, true, { from: { input: 1 }, of })
    return steps
  },
})

const extreme = (better: '>' | '<'): Kernel => ({
  dtypes: ['f32', 'f16'],
  build: (shape): Program => extremes(better, geometryOf(shape), floatOf(shape), shape.subgroups),
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
