// Reads a buffer larger than the caches, so that lines written before are written back now and not in the timed call.
// `fence` is in the layout of every timed step as well: the driver finishes this pass before it starts the call.
@group(0) @binding(0) var<storage, read> filler: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> fence: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  var seen = vec4<u32>(0u);
  for (var i = id.x; i < arrayLength(&filler); i += groups.x * 256u) { seen |= filler[i]; }
  // The buffer holds zeros, which the compiler cannot know.
  if (any(seen != vec4<u32>(0u))) { fence[0] = 1u; }
}
