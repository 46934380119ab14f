// Writes one word to a whole buffer.
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<uniform> pattern: vec4<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  for (var word = id.x; word < arrayLength(&words); word += groups.x * 256u) { words[word] = pattern.x; }
}
