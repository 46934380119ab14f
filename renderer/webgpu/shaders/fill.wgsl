// Inputs by the rule in core/values/random.ts. One word per turn: one element of four bytes, two of two or four of one, the
// lower index in the lower bits. What lies beyond the last element is padding and stays zero.
struct Fill {
  elements: u32,
  key0: u32,
  key1: u32,
  // Index into FILL_KINDS of core/values/random.ts.
  kind: u32,
  factor: f32,
  low: i32,
  below: u32,
  // Bytes of an element, and whether it is an integer.
  bytes: u32,
  whole: u32,
  // Index of the first element that is bound.
  first: u32,
}
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<uniform> fill: Fill;

fn mix(seed: u32) -> u32 {
  var x = seed;
  x = (x ^ (x >> 16u)) * 0x7feb352du;
  x = (x ^ (x >> 15u)) * 0x846ca68bu;
  return x ^ (x >> 16u);
}

// The upper 32 bits of a * b.
fn upper_product(a: u32, b: u32) -> u32 {
  let low = (a & 0xffffu) * (b & 0xffffu);
  let left = (a >> 16u) * (b & 0xffffu);
  let right = (a & 0xffffu) * (b >> 16u);
  let middle = (low >> 16u) + (left & 0xffffu) + (right & 0xffffu);
  return (a >> 16u) * (b >> 16u) + (left >> 16u) + (right >> 16u) + (middle >> 16u);
}

fn permuted(i: u32) -> u32 {
  let bits = max(1u, 32u - countLeadingZeros(fill.below - 1u));
  let mask = select((1u << (bits & 31u)) - 1u, 0xffffffffu, bits == 32u);
  let shift = max(1u, bits >> 1u);
  var x = i;
  loop {
    for (var round = 0u; round < 2u; round++) {
      x = (x * 0x9e3779b1u + fill.key0) & mask;
      x = x ^ (x >> shift);
      x = (x * 0x85ebca77u + fill.key1) & mask;
      x = x ^ (x >> shift);
    }
    if (x < fill.below) { break; }
  }
  return x;
}

// The element as an integer for kinds 3 and 4, else as the bits of an f32.
fn value_of(i: u32) -> u32 {
  if (fill.kind == 5u) { return bitcast<u32>(fill.factor); }
  if (fill.kind == 4u) { return permuted(i % fill.below); }
  let a = mix(i + fill.key0);
  if (fill.kind == 3u) { return bitcast<u32>(fill.low) + upper_product(a, fill.below); }
  if (fill.kind == 2u) { return bitcast<u32>(f32(a >> 8u) * fill.factor); }
  let b = mix(a ^ fill.key1);
  let k = i32((a & 0xffffu) + (a >> 16u) + (b & 0xffffu) + (b >> 16u)) - 131070;
  let counted = select(k, abs(k) + 1, fill.kind == 1u);
  return bitcast<u32>(f32(counted) * fill.factor);
}

// Round to nearest even with integers alone: a device may round its own conversion, or drop subnormals, as it likes.
fn half_bits(bits: u32) -> u32 {
  let sign = (bits >> 16u) & 0x8000u;
  let magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x477ff000u) { return sign | 0x7c00u; }
  if (magnitude >= 0x38800000u) {
    return sign | ((magnitude + 0xfffu + ((magnitude >> 13u) & 1u) - 0x38000000u) >> 13u);
  }
  let exponent = magnitude >> 23u;
  // Below a quarter of the smallest subnormal everything rounds to zero.
  if (exponent < 101u) { return sign; }
  let shift = 126u - exponent;
  let mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  return sign | ((mantissa + (1u << (shift - 1u)) - 1u + ((mantissa >> shift) & 1u)) >> shift);
}

// The bits of element i in its storage type.
fn stored(i: u32) -> u32 {
  let value = value_of(i);
  let counted = fill.kind == 3u || fill.kind == 4u;
  if (fill.whole == 1u) { return select(value, value & 0xffu, fill.bytes == 1u); }
  let bits = select(value, bitcast<u32>(f32(bitcast<i32>(value))), counted);
  if (fill.bytes == 2u) { return half_bits(bits); }
  return bits;
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let each = 4u / fill.bytes;
  let count = fill.elements / each + select(0u, 1u, fill.elements % each != 0u);
  for (var word = id.x; word < count; word += groups.x * 256u) {
    var bits = 0u;
    for (var part = 0u; part < each; part++) {
      let i = word * each + part;
      if (i < fill.elements) { bits |= stored(fill.first + i) << ((part * fill.bytes * 8u) & 31u); }
    }
    words[word] = bits;
  }
}
