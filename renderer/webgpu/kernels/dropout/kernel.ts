import { mapped } from '../../wgsl/mapped'
import { dimOf, type Kernel, type Program } from '../types'

/** philox4x32-10 of core/values/random.ts. */
const PHILOX = `fn high(a: u32, b: u32) -> u32 {
  let low = (a & 0xffffu) * (b & 0xffffu);
  let one = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
  let two = (a & 0xffffu) * (b >> 16u) + (one & 0xffffu);
  return (a >> 16u) * (b >> 16u) + (one >> 16u) + (two >> 16u);
}
fn philox(block: u32, seed: u32, rounds: u32) -> vec4<u32> {
  var c = vec4<u32>(block, 0u, 0u, 0u);
  var key = vec2<u32>(seed, 0u);
  for (var round = 0u; round < rounds; round++) {
    c = vec4<u32>(high(0xcd9e8d57u, c.z) ^ c.y ^ key.x, 0xcd9e8d57u * c.z, high(0xd2511f53u, c.x) ^ c.w ^ key.y, 0xd2511f53u * c.x);
    key += vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
  }
  return c;
}
`

const ROUNDS = 10
/** Elements up to which the rounds are a loop: a call of so few waits for the kernel's own text, which is shorter then. Written so that no constant takes the place of their number (wgsl/constants.ts). */
const FEW = 2 ** 20

/** One block of random numbers for four elements; the rule stands in core/ops/dropout. */
const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape): Program => {
    const [p] = shape.scalars as [number]
    const { scratchBytes, steps } = mapped({
      tensors: [{ name: 'x', at: { input: 0 }, type: 'own4' }, { name: 'out', at: 'output', type: 'own4', write: true }],
      functions: PHILOX,
      body: `  let kept = vec4<f32>(philox(i, dim(1u), ${dimOf(shape, 0) <= FEW ? 'dim(2)' : `${ROUNDS}u`}) >> vec4<u32>(8u)) >= vec4<f32>(scalar(0u));\n  out[i] = own4(select(vec4<f32>(0.0), vec4<f32>(x[i]) * scalar(1u), kept));`,
      dims: [0, ROUNDS],
      scalars: [p * 2 ** 24, 1 / (1 - p)],
    }, shape.dtype, Math.ceil(dimOf(shape, 0) / 4))
    return { scratchBytes, steps: steps.map((step) => ({ ...step, seedAt: 1 })) }
  },
}
export default kernel
