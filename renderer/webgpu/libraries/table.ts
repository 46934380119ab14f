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

/** Images [batch, channels, height, width]; the dims of core/ops/convolution. */
const convolution: LibraryOp = {
  shapes: ({ dims }) => {
    const [batch, channels, filters, groups, , , , , , , h, kh, , oh, w, kw, , ow] = dims as number[] as [number, number, number, number, number, number, number, number, number, number, number, number, number, number, number, number, number, number]
    return { inputs: [[batch, channels, h, w], [filters, channels / groups, kh, kw]], output: [batch, filters, oh, ow] }
  },
  onnx: (shape) => {
    const [group, stride, dilation, ph, pw] = [3, 4, 5, 12, 16].map((at) => dimOf(shape, at)) as [number, number, number, number, number]
    return { type: 'Conv', attributes: { group, strides: [stride, stride], dilations: [dilation, dilation], pads: [ph, pw, ph, pw], kernel_shape: [dimOf(shape, 11), dimOf(shape, 15)] } }
  },
}

const pooling = (type: string): LibraryOp => ({
  shapes: ({ dims: [planes, h, w, oh, ow] }) => ({ inputs: [[1, planes!, h!, w!]], output: [1, planes!, oh!, ow!] }),
  onnx: (shape) => {
    const [kernel, stride, padding] = [dimOf(shape, 5), dimOf(shape, 6), dimOf(shape, 7)]
    const whole: OnnxNode['attributes'] = type === 'AveragePool' ? { count_include_pad: 1 } : {}
    return { type, attributes: { kernel_shape: [kernel, kernel], strides: [stride, stride], pads: [padding, padding, padding, padding], ...whole } }
  },
})

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
  gelu: unary({ type: 'Gelu', attributes: { approximate: 'none' } }),
  gelu_tanh: unary({ type: 'Gelu', attributes: { approximate: 'tanh' } }),
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
    tf: (tf, [indices, weight]) => tf['gather']!(weight, indices),
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
  conv2d: convolution,
  max_pool2d: pooling('MaxPool'),
  avg_pool2d: pooling('AveragePool'),
}
