import { elementwise, type Elementwise } from '../../wgsl/elementwise'
import { dimOf, type Kernel } from '../types'

/**
 * erfc(z) for z >= 0 is P(t) e^(-z²) with t = 1 / (1 + 0.3275911 z) and |error| <= 1.5e-7 (Abramowitz & Stegun 7.1.26).
 * Its half is the weight of a negative x, and what is missing to 1 of a positive one: neither side cancels.
 */
const PHI = `
fn half_erfc(z: vec4<f32>) -> vec4<f32> {
  let t = 1.0 / (1.0 + 0.3275911 * z);
  let p = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return 0.5 * p * exp(-z * z);
}
fn phi(x: vec4<f32>) -> vec4<f32> {
  let tail = half_erfc(abs(x) * 0.70710678118654752);
  return select(tail, 1.0 - tail, x >= vec4<f32>(0.0));
}
`

/** Neither side overflows: e is at most 1. */
const SIGMOID = `
fn sigmoid(x: vec4<f32>) -> vec4<f32> {
  let e = exp(-abs(x));
  return select(e, vec4<f32>(1.0), x >= vec4<f32>(0.0)) / (1.0 + e);
}
`

/** Below 0.4 the series of tanh to x^9 (NIST DLMF 4.33.3), relative error below 3e-7; beyond, 1 - 2 / (e^2x + 1) loses no digits. */
const TANH = `
fn tanh_of(x: vec4<f32>) -> vec4<f32> {
  let m = min(abs(x), vec4<f32>(10.0));
  let q = m * m;
  let series = m * (1.0 + q * (-0.33333333333 + q * (0.13333333333 + q * (-0.05396825397 + q * (0.02186948854 - q * 0.00886323553)))));
  let far = 1.0 - 2.0 / (exp(2.0 * m) + 1.0);
  return sign(x) * select(far, series, m < vec4<f32>(0.4));
}
`

/** The argument of the tanh in gelu_tanh, doubled: x (1 + tanh(u)) / 2 = x sigmoid(2u). */
const GELU_TANH = `${SIGMOID}
fn gelu_tanh(x: vec4<f32>) -> vec4<f32> { return x * sigmoid(1.59576912160573 * x * (1.0 + 0.044715 * x * x)); }
`

/** One expression per op, by op id. */
const TABLE: Readonly<Record<string, Elementwise>> = {
  copy: { inputs: 1, expression: 'a', raw: true },
  fill: { inputs: 0, scalars: 1, expression: 'vec4<f32>(s0)' },
  add: { inputs: 2, expression: 'a + b' },
  sub: { inputs: 2, expression: 'a - b' },
  mul: { inputs: 2, expression: 'a * b' },
  div: { inputs: 2, expression: 'a / b' },
  add_gelu: { inputs: 2, expression: '(a + b) * phi(a + b)', functions: PHI },
  fma: { inputs: 3, expression: 'fma(a, b, c)' },
  // As PyTorch: from the nearer end, so that weight 1 gives b exactly.
  lerp: { inputs: 2, scalars: 1, expression: 'select(b - (b - a) * (1.0 - s0), a + s0 * (b - a), s0 < 0.5)' },
  scale: { inputs: 1, scalars: 1, expression: 'a * s0' },
  clamp: { inputs: 1, scalars: 2, expression: 'min(max(a, vec4<f32>(s0)), vec4<f32>(s1))' },
  abs: { inputs: 1, expression: 'abs(a)' },
  neg: { inputs: 1, expression: '-a' },
  exp: { inputs: 1, expression: 'exp(a)' },
  log: { inputs: 1, expression: 'log(a)' },
  sqrt: { inputs: 1, expression: 'sqrt(a)' },
  rsqrt: { inputs: 1, expression: 'inverseSqrt(a)' },
  relu: { inputs: 1, expression: 'max(a, vec4<f32>(0.0))' },
  hardswish: { inputs: 1, expression: 'a * clamp(a + 3.0, vec4<f32>(0.0), vec4<f32>(6.0)) * 0.16666667' },
  sigmoid: { inputs: 1, expression: 'sigmoid(a)', functions: SIGMOID },
  tanh: { inputs: 1, expression: 'tanh_of(a)', functions: TANH },
  gelu: { inputs: 1, expression: 'a * phi(a)', functions: PHI },
  gelu_tanh: { inputs: 1, expression: 'gelu_tanh(a)', functions: GELU_TANH },
  silu: { inputs: 1, expression: 'a * sigmoid(a)', functions: SIGMOID },
  // 0.39894228... is 1 / sqrt(2 pi).
  gelu_backward: { inputs: 2, expression: 'a * (phi(b) + b * 0.3989422804014327 * exp(-0.5 * b * b))', functions: PHI },
  silu_backward: { inputs: 2, expression: 'a * sigmoid(b) * (1.0 + b * (1.0 - sigmoid(b)))', functions: SIGMOID },
  swiglu: { inputs: 2, expression: 'a * sigmoid(a) * b', functions: SIGMOID },
}

const sum = elementwise({ inputs: 3, expression: 'a + b + c' })
/** Its second tensor is one row. */
const addResidual: Kernel = { dtypes: sum.dtypes, build: (shape) => sum.build({ ...shape, dims: [dimOf(shape, 0), dimOf(shape, 1), 1] }) }

const kernels: Readonly<Record<string, Kernel>> = { ...Object.fromEntries(Object.entries(TABLE).map(([op, entry]) => [op, elementwise(entry)])), add_residual: addResidual }
export default kernels
