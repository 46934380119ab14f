// Counts elements that still hold the sentinel; `found` starts at 0.
struct Count {
  elements: u32,
  sentinel: u32,
  halves: u32,
}
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<uniform> wanted: Count;
@group(0) @binding(2) var<storage, read_write> found: atomic<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  var mine = 0u;
  if (wanted.halves == 1u) {
    for (var word = id.x; word < wanted.elements / 2u + wanted.elements % 2u; word += groups.x * 256u) {
      if ((words[word] & 0xffffu) == wanted.sentinel) { mine += 1u; }
      if (2u * word + 1u < wanted.elements && (words[word] >> 16u) == wanted.sentinel) { mine += 1u; }
    }
  } else {
    for (var word = id.x; word < wanted.elements; word += groups.x * 256u) {
      if (words[word] == wanted.sentinel) { mine += 1u; }
    }
  }
  if (mine > 0u) { atomicAdd(&found, mine); }
}
