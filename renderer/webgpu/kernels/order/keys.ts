/** A real number as a u32 that sorts like it, and back. Zeros are equal; a descending order turns all bits over. */
export const keyFunctions = (descending: boolean) => `fn key_of(value: f32) -> u32 {
  let bits = select(bitcast<u32>(value), 0u, value == 0.0);
  return ${descending ? '~' : ''}select(bits | 0x80000000u, ~bits, bits >= 0x80000000u);
}
fn value_of(key: u32) -> f32 {
  let bits = ${descending ? '~' : ''}key;
  return bitcast<f32>(select(~bits, bits & 0x7fffffffu, bits >= 0x80000000u));
}
`

/** The lowest bit in which keys of a type differ: f32 made of f16 has 13 zeros at its end. */
export const lowestBit = (type: 'f32' | 'f16') => (type === 'f16' ? 13 : 0)
