// Overwrites a buffer larger than the caches; `fence` as in drain.wgsl, which runs next.
@group(0) @binding(0) var<storage, read_write> filler: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> fence: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  for (var i = id.x; i < arrayLength(&filler); i += groups.x * 256u) { filler[i] = vec4<u32>(i); }
}
