// Reads a working set `rounds` times. Each round a thread reads another part, so that it finds little in the cache of its own processor.
@group(0) @binding(0) var<storage, read> words: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> fence: array<u32>;
@group(0) @binding(2) var<uniform> rounds: vec4<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let length = arrayLength(&words);
  var seen = vec4<u32>(0u);
  var shift = 0u;
  for (var round = 0u; round < rounds.x; round++) {
    for (var i = id.x; i < length; i += groups.x * 256u) {
      let place = i + shift;
      seen |= words[select(place, place - length, place >= length)];
    }
    shift = (shift + length / 3u + 4096u) % length;
  }
  // The buffer holds zeros, which the compiler cannot know.
  if (any(seen != vec4<u32>(0u))) { fence[0] = 1u; }
}
