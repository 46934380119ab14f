import { isTensor } from '../aten'
import { erfc } from '../../values/erf'
import { matrix, withNames } from '../forms'
import { arithmetic, exact, transcendental } from '../define'
import { elementwise, type Elementwise } from './define'

/** A finite real number that kernels take in f32. */
const real = (title: string, usual: number) => ({ title, kind: 'number', default: usual, min: -1e4, max: 1e4 }) as const

/** Values above zero: 2.6e-5 (2^-15.2) to 3.46. */
const POSITIVE = { x: { kind: 'positive', scale: 1 } } as const

/** 1 / (1 + e^-x), accurate relative to its value for every x. */
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))

/** Normal distribution function: erfc(-z) = 1 + erf(z) without the cancellation that 1 + erf has for large negative x. */
const normalCdf = (x: number): number => 0.5 * erfc(-x * Math.SQRT1_2)

const INVERSE_SQRT_2PI = 1 / Math.sqrt(2 * Math.PI)

const binary = { family: 'binary', inputs: ['a', 'b'], broadcasts: true, flops: 1, cost: 1 } as const
const unary = { family: 'unary', inputs: ['x'], flops: 1 } as const
const activation = { family: 'activation', inputs: ['x'], unit: 'special', tolerance: transcendental } as const
const backward = { family: 'backward', inputs: ['grad', 'x'], unit: 'special', tolerance: transcendental } as const

/** Largest product of two inputs of the normal fill is 12: what one unfused rounding of it may be off after cancellation. */
const CANCELS = 1e-6

/** ONNX defines hardswish as x max(0, min(1, alpha x + beta)), alpha = 1/6. Near x = -3 the roundings of alpha (1.5e-8) and of its product with x (3e-8) stay in a sum near 0, times 3. */
const HARDSWISH_CANCELS = 1.4e-7

/**
 * Element-wise operations, one entry each. The kernels state the same expressions once per language:
 * native/cpu/kernels, native/cuda/kernels, renderer/webgpu/kernels, main/backends/python/worker/implementations.
 */
const TABLE: readonly Elementwise[] = [
  // Its bandwidth at sizes beyond the caches is the device's measured bandwidth ceiling.
  { id: 'copy', family: 'memory', representative: true, summary: 'Copy of a tensor', torch: 'x.clone()', inputs: ['x'], aten: { names: ['clone', 'copy'], attributes: ({ args: [, source] }) => (isTensor(source) ? undefined : {}) }, flops: 0, cost: 1, at: ([x]) => x!, tolerance: () => exact },
  // Reads nothing: its bandwidth at sizes beyond the caches is the device's measured write ceiling. Every dtype holds 1.
  { id: 'fill', family: 'ceiling', summary: 'Writes a constant: the write bandwidth', torch: 'x.fill_(value)', inputs: [], aten: { names: [] }, attributes: { value: real('Value', 1) }, flops: 0, cost: 1, at: (_, [value]) => value!, tolerance: (dtype) => arithmetic(dtype) },

  { ...binary, id: 'add', representative: true, summary: 'Sum of two tensors', torch: 'torch.add(a, b)', at: ([a, b]) => a! + b!, tolerance: (dtype) => arithmetic(dtype) },
  { ...binary, id: 'sub', summary: 'Difference of two tensors', torch: 'torch.sub(a, b)', at: ([a, b]) => a! - b!, tolerance: (dtype) => arithmetic(dtype) },
  { ...binary, id: 'mul', summary: 'Product of two tensors', torch: 'torch.mul(a, b)', at: ([a, b]) => a! * b!, tolerance: (dtype) => arithmetic(dtype) },
  // Divisors from 2.1e-4, so that every quotient is finite in f16.
  { ...binary, id: 'div', summary: 'Quotient of two tensors', torch: 'torch.div(a, b)', fills: { b: { kind: 'positive', scale: 8 } }, at: ([a, b]) => a! / b!, tolerance: (dtype) => arithmetic(dtype) },

  // For the parts of a composite op (composite-plan.ts): the bias of a linear layer and what follows it.
  { ...binary, id: 'add_gelu', family: 'part', summary: 'gelu of a sum', torch: 'F.gelu(a + b)', aten: { names: [] }, unit: 'special', flops: 6, cost: 13, at: ([a, b]) => (a! + b!) * normalCdf(a! + b!), tolerance: transcendental },

  { id: 'fma', family: 'ternary', summary: 'a * b + c', torch: 'torch.addcmul(c, a, b)', aten: { names: ['addcmul'] }, inputs: ['a', 'b', 'c'], flops: 2, cost: 1, at: ([a, b, c]) => a! * b! + c!, tolerance: (dtype) => arithmetic(dtype, CANCELS) },
  {
    id: 'lerp', family: 'ternary', summary: 'Linear interpolation a + weight * (b - a)', torch: 'torch.lerp(a, b, weight)', inputs: ['a', 'b'], attributes: { weight: real('Weight', 0.5) },
    flops: 3, cost: 1, at: ([a, b], [weight]) => a! + weight! * (b! - a!), tolerance: (dtype) => arithmetic(dtype, CANCELS),
  },
  { id: 'scale', family: 'ternary', summary: 'Tensor times a number', torch: 'torch.mul(x, factor)', inputs: ['x'], aten: { names: ['mul'], attributes: ({ args: [, factor] }) => (typeof factor === 'number' ? { factor } : undefined) }, attributes: { factor: real('Factor', 2) }, flops: 1, cost: 1, at: ([x], [factor]) => x! * factor!, tolerance: (dtype) => arithmetic(dtype) },
  {
    // PyTorch's order: where min exceeds max, every element becomes max.
    id: 'clamp', family: 'ternary', summary: 'Values limited to [min, max]', torch: 'torch.clamp(x, min, max)', inputs: ['x'], aten: { attributes: ({ args: [, min, max] }) => (typeof min === 'number' && typeof max === 'number' ? { min, max } : undefined) }, attributes: { min: real('Minimum', -0.5), max: real('Maximum', 0.5) },
    flops: 2, cost: 1, at: ([x], [min, max]) => Math.min(Math.max(x!, min!), max!), tolerance: (dtype) => arithmetic(dtype),
  },

  { ...unary, id: 'abs', summary: 'Absolute value', torch: 'torch.abs(x)', cost: 1, at: ([x]) => Math.abs(x!), tolerance: () => exact },
  { ...unary, id: 'neg', summary: 'Negated value', torch: 'torch.neg(x)', cost: 1, at: ([x]) => -x!, tolerance: () => exact },
  { ...unary, id: 'exp', representative: true, summary: 'e to the power of x', torch: 'torch.exp(x)', unit: 'special', cost: 4, at: ([x]) => Math.exp(x!), tolerance: transcendental },
  { ...unary, id: 'log', summary: 'Natural logarithm', torch: 'torch.log(x)', fills: POSITIVE, unit: 'special', cost: 4, at: ([x]) => Math.log(x!), tolerance: transcendental },
  { ...unary, id: 'sqrt', summary: 'Square root', torch: 'torch.sqrt(x)', fills: POSITIVE, unit: 'special', cost: 2, at: ([x]) => Math.sqrt(x!), tolerance: (dtype) => transcendental(dtype, 0) },
  { ...unary, id: 'rsqrt', summary: '1 / square root', torch: 'torch.rsqrt(x)', fills: POSITIVE, unit: 'special', cost: 2, at: ([x]) => 1 / Math.sqrt(x!), tolerance: (dtype) => transcendental(dtype, 0) },

  { ...activation, id: 'relu', unit: 'vector', summary: 'max(x, 0)', torch: 'F.relu(x)', flops: 1, cost: 1, at: ([x]) => Math.max(x!, 0), tolerance: () => exact },
  // Five operations: add, two compares, multiply, divide.
  { ...activation, id: 'hardswish', unit: 'vector', summary: 'x * min(max(x + 3, 0), 6) / 6', torch: 'F.hardswish(x)', flops: 5, cost: 2, at: ([x]) => (x! * Math.min(Math.max(x! + 3, 0), 6)) / 6, tolerance: (dtype) => arithmetic(dtype, HARDSWISH_CANCELS) },
  // Three operations: exp, add, reciprocal.
  { ...activation, id: 'sigmoid', summary: '1 / (1 + exp(-x))', torch: 'torch.sigmoid(x)', flops: 3, cost: 5, at: ([x]) => sigmoid(x!) },
  { ...activation, id: 'tanh', summary: 'Hyperbolic tangent', torch: 'torch.tanh(x)', flops: 1, cost: 6, at: ([x]) => Math.tanh(x!) },
  // x times the normal distribution function (Hendrycks & Gimpel 2016, exact form). Five operations: scale, erf, add, halve, multiply.
  { ...activation, id: 'gelu', representative: true, summary: 'Gaussian error linear unit with erf', torch: 'F.gelu(x)', aten: { attributes: ({ kwargs }) => (kwargs['approximate'] === 'tanh' ? undefined : {}) }, flops: 5, cost: 12, at: ([x]) => x! * normalCdf(x!) },
  {
    // 0.5 x (1 + tanh(u)) = x sigmoid(2u), which does not cancel for negative u. Nine operations: square, cube, scale, add, scale, tanh, add, halve, multiply.
    ...activation, id: 'gelu_tanh', summary: 'Gaussian error linear unit, tanh approximation', torch: "F.gelu(x, approximate='tanh')", aten: { names: ['gelu'], attributes: ({ kwargs }) => (kwargs['approximate'] === 'tanh' ? {} : undefined) },
    flops: 9, cost: 8, at: ([x]) => x! * sigmoid(2 * Math.sqrt(2 / Math.PI) * (x! + 0.044715 * x! ** 3)),
  },
  { ...activation, id: 'silu', summary: 'Sigmoid linear unit (swish), x * sigmoid(x)', torch: 'F.silu(x)', flops: 4, cost: 5, at: ([x]) => x! * sigmoid(x!) },

  {
    // grad (Phi(x) + x phi(x)). Ten operations: five of Phi, and square, scale, exp, multiply-add as two, less the shared halving, times grad.
    ...backward, id: 'gelu_backward', summary: 'Gradient of gelu (erf)', torch: 'torch.ops.aten.gelu_backward(grad, x)',
    flops: 10, cost: 16, at: ([grad, x]) => grad! * (normalCdf(x!) + x! * INVERSE_SQRT_2PI * Math.exp(-0.5 * x! * x!)),
  },
  {
    // grad s (1 + x (1 - s)) with s = sigmoid(x); 1 - sigmoid(x) = sigmoid(-x). Eight operations: three of s, subtract, multiply, add, two products.
    ...backward, id: 'silu_backward', summary: 'Gradient of silu', torch: 'torch.ops.aten.silu_backward(grad, x)',
    flops: 8, cost: 10, at: ([grad, x]) => grad! * sigmoid(x!) * (1 + x! * sigmoid(-x!)),
  },

  {
    id: 'swiglu', family: 'gated', summary: 'silu(a) * b, the gate of a transformer MLP', torch: 'F.silu(a) * b', inputs: ['a', 'b'],
    shape: { form: withNames(matrix, ['tokens', 'dim']), of: (p) => [p['tokens'] as number, p['dim'] as number] },
    flops: 5, unit: 'special', cost: 6, at: ([a, b]) => a! * sigmoid(a!) * b!, tolerance: transcendental,
  },
]

export default TABLE.map(elementwise)
