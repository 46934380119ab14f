// Inputs by the rule in core/random.ts. One word per turn: an f32, or two f16 with the lower index in the lower half.
struct Fill {
  elements: u32,
  key0: u32,
  key1: u32,
  positive: u32,
  factor: f32,
  halves: u32,
}
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<uniform> fill: Fill;

fn mix(seed: u32) -> u32 {
  var x = seed;
  x = (x ^ (x >> 16u)) * 0x7feb352du;
  x = (x ^ (x >> 15u)) * 0x846ca68bu;
  return x ^ (x >> 16u);
}

fn value_bits(i: u32) -> u32 {
  let a = mix(i + fill.key0);
  let b = mix(a ^ fill.key1);
  let k = i32((a & 0xffffu) + (a >> 16u) + (b & 0xffffu) + (b >> 16u)) - 131070;
  let whole = select(k, abs(k) + 1, fill.positive == 1u);
  return bitcast<u32>(f32(whole) * fill.factor);
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

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let count = select(fill.elements, fill.elements / 2u + fill.elements % 2u, fill.halves == 1u);
  for (var word = id.x; word < count; word += groups.x * 256u) {
    if (fill.halves == 1u) {
      let low = half_bits(value_bits(2u * word));
      // The half beyond an odd number of elements is padding and stays zero.
      var high = 0u;
      if (2u * word + 1u < fill.elements) { high = half_bits(value_bits(2u * word + 1u)); }
      words[word] = low | (high << 16u);
    } else {
      words[word] = value_bits(word);
    }
  }
}
