import type { Width } from '../../wgsl/header'

/**
 * Functions that add up halves as whole multiples of 2^-24, the smallest half, in 64 bits: a sum is exact, so it is the same whatever the order of
 * its additions. 2^23 of the largest half fit. `add_exactly(&low, &high, value)` adds to the two words of a sum, `exact_sum(low, high)` is its value.
 */
export function exactSums(width: Width): string {
  const [vu, vf] = width === 4 ? ['vec4<u32>', 'vec4<f32>'] : ['u32', 'f32']
  return `fn add_exactly(low: ptr<function, ${vu}>, high: ptr<function, ${vu}>, value: ${vf}) {
  let size = abs(value);
  let top = ${vu}(size * 0.00390625);
  let rest = ${vu}((size - ${vf}(top) * 256.0) * 16777216.0);
  let negative = value < ${vf}(0.0);
  let words = select(rest, ${vu}(0u) - rest, negative);
  *low += words;
  *high += select(top, ~top + select(${vu}(0u), ${vu}(1u), rest == ${vu}(0u)), negative) + select(${vu}(0u), ${vu}(1u), *low < words);
}
fn exact_sum(low: ${vu}, high: ${vu}) -> ${vf} {
  let negative = high >= ${vu}(0x80000000u);
  let rest = select(low, ${vu}(0u) - low, negative);
  let top = select(high, ~high + select(${vu}(0u), ${vu}(1u), low == ${vu}(0u)), negative);
  let size = ${vf}(top) * 256.0 + ${vf}(rest) * 0.000000059604644775390625;
  return select(size, -size, negative);
}
`
}
