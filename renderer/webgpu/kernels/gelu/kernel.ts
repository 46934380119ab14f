import { elementwise } from '../../wgsl/elementwise'

/**
 * erfc(z) for z >= 0 is P(t) e^(-z²) with t = 1 / (1 + 0.3275911 z) and |error| <= 1.5e-7 (Abramowitz & Stegun 7.1.26).
 * Its half is the weight of a negative x, and what is missing to 1 of a positive one: neither side cancels.
 */
const HALF_ERFC = `
fn half_erfc(z: vec4<f32>) -> vec4<f32> {
  let t = 1.0 / (1.0 + 0.3275911 * z);
  let p = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return 0.5 * p * exp(-z * z);
}
fn gelu(x: vec4<f32>) -> vec4<f32> {
  let tail = half_erfc(abs(x) * 0.70710678118654752);
  return x * select(tail, 1.0 - tail, x >= vec4<f32>(0.0));
}
`

export default elementwise({ inputs: 1, expression: 'gelu(a)', functions: HALF_ERFC })
