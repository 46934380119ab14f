// Counts elements that still hold the sentinel, and those that are NaN or infinite; `found` starts at 0.
struct Scan {
  elements: u32,
  sentinel: u32,
  // Bytes of an element.
  bytes: u32,
  // The exponent of its storage type, all ones; 0 for integers, which are always finite.
  exponent: u32,
}
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<uniform> wanted: Scan;
@group(0) @binding(2) var<storage, read_write> found: array<atomic<u32>, 2>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  var unwritten = 0u;
  var infinite = 0u;
  let each = 4u / wanted.bytes;
  let bits = wanted.bytes * 8u;
  let mask = select((1u << (bits & 31u)) - 1u, 0xffffffffu, bits == 32u);
  let count = wanted.elements / each + select(0u, 1u, wanted.elements % each != 0u);
  for (var word = id.x; word < count; word += groups.x * 256u) {
    for (var part = 0u; part < each; part++) {
      if (word * each + part < wanted.elements) {
        let element = (words[word] >> ((part * bits) & 31u)) & mask;
        if (element == wanted.sentinel) {
          unwritten += 1u;
        } else if (wanted.exponent != 0u && (element & wanted.exponent) == wanted.exponent) {
          infinite += 1u;
        }
      }
    }
  }
  if (unwritten > 0u) { atomicAdd(&found[0], unwritten); }
  if (infinite > 0u) { atomicAdd(&found[1], infinite); }
}
