// A chain of dependent multiply-adds on one workgroup: keeps the device at work and shows how fast its clock runs.
@group(0) @binding(0) var<storage, read_write> result: array<f32>;
@group(0) @binding(1) var<uniform> settings: vec4<u32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) lane: u32) {
  var y = f32(lane);
  for (var turn = 0u; turn < settings.x; turn++) {
    for (var step = 0u; step < 64u; step++) { y = fma(y, 0.999f, 0.001f); }
  }
  result[lane] = y;
}
