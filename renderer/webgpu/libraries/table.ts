import { dimOf, type KernelShape } from '../kernels/types'
import type { LibraryOp, OnnxNode, Tf, TfTensor } from './types'

const call = (name: string) => (tf: Tf, inputs: readonly TfTensor[]) => tf[name]!(...inputs)
const node = (type: string, attributes?: OnnxNode['attributes']) => () => (attributes ? { type, attributes } : { type })

/** One result per element. */
function unary(onnx?: OnnxNode, tf?: string): LibraryOp {
  return { shapes: ({ dims: [n] }) => ({ inputs: [[n!]], output: [n!] }), ...(onnx ? { onnx: () => onnx } : {}), ...(tf ? { tf: call(tf) } : {}) }
}

/** The second operand may be a row, a column or one number. */
function binary(onnx: string, tf: string): LibraryOp {
  return {
    shapes: ({ dims: [n, cols, broadcast = 0] }) => {
      if (broadcast === 0) return { inputs: [[n!], [n!]], output: [n!] }
      const whole = [n! / cols!, cols!]
      return { inputs: [whole, broadcast === 1 ? [cols!] : broadcast === 2 ? [n! / cols!, 1] : [1]], output: whole }
    },
    onnx: node(onnx),
    tf: call(tf),
  }
}

/** x [groups, outer, reduce, inner], over groups and reduce. */
const axes = ({ dims: [, , , groups = 1] }: KernelShape) => (groups > 1 ? [0, 2] : [2])

function reduction(onnx?: string, tf?: string): LibraryOp {
  return {
    shapes: ({ dims: [outer, reduce, inner, groups = 1] }) => ({ inputs: [[groups, outer!, reduce!, inner!]], output: [1, outer!, 1, inner!] }),
    ...(onnx ? { onnx: (shape) => ({ type: onnx, attributes: { keepdims: 1 }, constants: [{ int64: axes(shape) }] }) } : {}),
    ...(tf ? { tf: (lib, [x], shape) => lib[tf]!(x, axes(shape), true) } : {}),
  }
}

/** The index along one axis; ONNX gives int64, which is not our output. */
const extreme = (tf: string): LibraryOp => ({
  shapes: ({ dims: [outer, reduce, inner, groups = 1] }) => (groups > 1 ? undefined : { inputs: [[outer!, reduce!, inner!]], output: [outer!, inner!] }),
  tf: (lib, [x]) => lib[tf]!(x, 1),
})

/** rows x cols in and out, with what each column has beside it. */
function rows(onnx?: (shape: KernelShape) => OnnxNode, tf?: LibraryOp['tf'], columns = 0): LibraryOp {
  return {
    shapes: ({ dims: [r, c] }) => ({ inputs: [[r!, c!], ...Array.from({ length: columns }, () => [c!])], output: [r!, c!] }),
    ...(onnx ? { onnx } : {}),
    ...(tf ? { tf } : {}),
  }
}

const epsilon = ({ scalars }: KernelShape) => ({ epsilon: { float: scalars[0]! }, axis: -1 })

/** Signals, images or volumes [batch, channels, ...extents]; the dims of core/ops/convolution, with as many axes as extents. */
function convolution(extents: 1 | 2 | 3): LibraryOp {
  // Input, kernel, padding and output of each axis.
  const axesOf = ({ dims }: KernelShape) => [6, 10, 14].slice(-extents).map((at) => dims.slice(at, at + 4) as [number, number, number, number])
  return {
    shapes: (shape) => {
      const [batch, channels, filters, groups] = shape.dims as [number, number, number, number]
      const along = axesOf(shape)
      return { inputs: [[batch, channels, ...along.map(([input]) => input)], [filters, channels / groups, ...along.map(([, kernel]) => kernel)]], output: [batch, filters, ...along.map(([, , , output]) => output)] }
    },
    onnx: (shape) => {
      const [group, stride, dilation] = [3, 4, 5].map((at) => dimOf(shape, at)) as [number, number, number]
      // ONNX Runtime has no groups of volumes.
      if (extents === 3 && group > 1) return undefined
      const along = axesOf(shape)
      const pads = along.map(([, , padding]) => padding)
      return { type: 'Conv', attributes: { group, strides: along.map(() => stride), dilations: along.map(() => dilation), pads: [...pads, ...pads], kernel_shape: along.map(([, kernel]) => kernel) } }
    },
  }
}

const planesOf = ({ dims: [planes, h, w, oh, ow] }: KernelShape) => ({ inputs: [[1, planes!, h!, w!]], output: [1, planes!, oh!, ow!] })

/** Windows along two axes, or along the second of them; one plane is an image of one channel to TensorFlow.js, whose means leave padding out. */
function pooling(max: boolean, extents: 1 | 2): LibraryOp {
  return {
    shapes: planesOf,
    onnx: (shape) => {
      const [kernel, stride, padding] = [dimOf(shape, 5), dimOf(shape, 6), dimOf(shape, 7)]
      const along = (value: number, none: number) => (extents === 2 ? [value, value] : [none, value])
      const attributes: OnnxNode['attributes'] = { kernel_shape: along(kernel, 1), strides: along(stride, 1), pads: [...along(padding, 0), ...along(padding, 0)] }
      return max ? { type: 'MaxPool', attributes } : { type: 'AveragePool', attributes: { ...attributes, count_include_pad: 1 } }
    },
    ...(extents === 2 ? {
      tf: (tf, [x], shape) => {
        const [planes, h, w, , , kernel, stride, padding] = shape.dims as [number, number, number, number, number, number, number, number]
        return max || padding === 0 ? tf[max ? 'maxPool' : 'avgPool']!(tf['reshape']!(x, [planes, h, w, 1]), kernel, stride, padding) : undefined
      },
    } : {}),
  }
}

/** Whole planes alone. */
const wholePooling = (onnx: string, tf: string): LibraryOp => ({
  shapes: (shape) => (shape.dims[3] === 1 && shape.dims[4] === 1 ? planesOf(shape) : undefined),
  onnx: node(onnx),
  tf: (lib, [x]) => lib[tf]!(x, [2, 3], true),
})

/** Heads of a batch one after the other, each with keys of its own: a batch of one head. */
const attention: LibraryOp = {
  shapes: ({ dims }) => {
    const [batch, heads, kvHeads, queries, keys, size, causal] = dims as [number, number, number, number, number, number, number]
    const all = batch * heads
    return heads !== kvHeads || (causal && queries !== keys) ? undefined : { inputs: [[all, queries, size], [all, keys, size], [all, keys, size]], output: [all, queries, size] }
  },
  onnx: ({ dims }) => ({ type: 'MultiHeadAttention', domain: 'com.microsoft', attributes: { num_heads: 1, unidirectional: dims[6]! } }),
}

/** With the mean and variance given. */
const batchNorm: LibraryOp = {
  shapes: ({ dims: [batch, channels, plane, training] }) => (training ? undefined : { inputs: [[batch!, channels!, plane!, 1], ...Array.from({ length: 4 }, () => [channels!])], output: [batch!, channels!, plane!, 1] }),
  onnx: ({ scalars }) => ({ type: 'BatchNormalization', attributes: { epsilon: { float: scalars[0]! } } }),
  tf: (tf, [x, ...given], { dims, scalars }) => {
    const [weight, bias, mean, variance] = given.map((one) => tf['reshape']!(one, [1, dims[1], 1, 1]))
    return tf['batchNorm']!(x, mean, variance, bias, weight, scalars[0])
  },
}

/** What web libraries have of the catalog, by op id; what one lacks is a hole in the support table. */
export const LIBRARY_OPS: Readonly<Record<string, LibraryOp>> = {
  add: binary('Add', 'add'),
  sub: binary('Sub', 'sub'),
  mul: binary('Mul', 'mul'),
  div: binary('Div', 'div'),
  abs: unary({ type: 'Abs' }, 'abs'),
  neg: unary({ type: 'Neg' }, 'neg'),
  exp: unary({ type: 'Exp' }, 'exp'),
  log: unary({ type: 'Log' }, 'log'),
  sqrt: unary({ type: 'Sqrt' }, 'sqrt'),
  rsqrt: unary(undefined, 'rsqrt'),
  relu: unary({ type: 'Relu' }, 'relu'),
  hardswish: unary({ type: 'HardSwish' }),
  sigmoid: unary({ type: 'Sigmoid' }, 'sigmoid'),
  tanh: unary({ type: 'Tanh' }, 'tanh'),
  silu: unary({ type: 'QuickGelu', domain: 'com.microsoft', attributes: { alpha: { float: 1 } } }),
  gelu: unary({ type: 'Gelu', attributes: { approximate: 'none' } }),
  gelu_tanh: unary({ type: 'Gelu', attributes: { approximate: 'tanh' } }),
  scale: {
    ...unary(),
    onnx: ({ scalars: [factor] }) => ({ type: 'Mul', constants: [{ float: factor! }] }),
    tf: (tf, [x], { scalars: [factor] }) => tf['mul']!(x, factor),
  },
  clamp: {
    ...unary(),
    onnx: ({ scalars: [low, high] }) => ({ type: 'Clip', constants: [{ float: low! }, { float: high! }] }),
    tf: (tf, [x], { scalars: [low, high] }) => tf['clipByValue']!(x, low, high),
  },
  sum: reduction('ReduceSum', 'sum'),
  mean: reduction('ReduceMean', 'mean'),
  max: reduction('ReduceMax', 'max'),
  min: reduction('ReduceMin', 'min'),
  norm_l1: reduction('ReduceL1'),
  norm_l2: reduction('ReduceL2'),
  sum_to_shape: reduction('ReduceSum', 'sum'),
  argmax: extreme('argMax'),
  argmin: extreme('argMin'),
  softmax: rows(node('Softmax', { axis: -1 }), call('softmax')),
  log_softmax: rows(undefined, call('logSoftmax')),
  layer_norm: rows((shape) => ({ type: 'LayerNormalization', attributes: epsilon(shape) }), undefined, 2),
  rms_norm: rows((shape) => ({ type: 'SimplifiedLayerNormalization', attributes: epsilon(shape) }), undefined, 1),
  cumsum: rows(() => ({ type: 'CumSum', constants: [{ int64: [1] }] }), (tf, [x]) => tf['cumsum']!(x, 1)),
  transpose: { shapes: ({ dims: [r, c] }) => ({ inputs: [[r!, c!]], output: [c!, r!] }), onnx: node('Transpose', { perm: [1, 0] }), tf: (tf, [x]) => tf['transpose']!(x, [1, 0]) },
  embedding: {
    shapes: ({ dims: [r, dim, indices] }) => ({ inputs: [[indices!], [r!, dim!]], output: [indices!, dim!] }),
    onnx: () => ({ type: 'Gather', inputs: [1, 0] }),
    tf: (tf, [indices, weight]) => tf['gather']!(weight, indices),
  },
  gather: {
    shapes: ({ dims: [r, dim, indices] }) => ({ inputs: [[r!, dim!], [indices!, dim!]], output: [indices!, dim!] }),
    onnx: node('GatherElements', { axis: 0 }),
  },
  topk: {
    shapes: ({ dims: [r, c, k] }) => ({ inputs: [[r!, c!]], output: [r!, k!] }),
    tf: ({ topk }, [x], { dims }) => {
      const { values, indices } = topk!(x, dims[2]) as unknown as Record<'values' | 'indices', TfTensor>
      return [values, indices]
    },
  },
  matmul: {
    shapes: ({ dims: [batch, m, n, k, transA, transB] }) => {
      const stack = batch === 1 ? [] : [batch!]
      return { inputs: [[...stack, ...(transA ? [k!, m!] : [m!, k!])], [...stack, ...(transB ? [n!, k!] : [k!, n!])]], output: [...stack, m!, n!] }
    },
    // Gemm has the transposes but no stack of matrices, MatMul the stack alone.
    onnx: ({ dims: [batch, , , , transA, transB] }) => (!transA && !transB ? { type: 'MatMul' } : batch === 1 ? { type: 'Gemm', attributes: { transA: transA!, transB: transB! } } : undefined),
    tf: (tf, [a, b], { dims: [, , , , transA, transB] }) => tf['matMul']!(a, b, transA === 1, transB === 1),
  },
  dot: { shapes: ({ dims: [n] }) => ({ inputs: [[1, n!], [n!, 1]], output: [1, 1] }), onnx: node('MatMul'), tf: call('matMul') },
  conv1d: convolution(1),
  conv2d: convolution(2),
  conv3d: convolution(3),
  max_pool1d: pooling(true, 1),
  avg_pool1d: pooling(false, 1),
  max_pool2d: pooling(true, 2),
  avg_pool2d: pooling(false, 2),
  adaptive_max_pool2d: wholePooling('GlobalMaxPool', 'max'),
  adaptive_avg_pool2d: wholePooling('GlobalAveragePool', 'mean'),
  batch_norm: batchNorm,
  scaled_dot_product_attention: attention,
}
