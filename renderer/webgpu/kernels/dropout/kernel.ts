import { THREADS } from '../../wgsl/header'
import { mapped } from '../../wgsl/mapped'
import { dimOf, type Kernel, type Program } from '../types'

/** The factors of Philox. */
const FACTORS = [0xd2511f53, 0xcd9e8d57] as const

/**
 * WGSL of the upper half of the product of a number with a factor, from products of 16 bits. Where the middle ones could carry, the factor is
 * 2^32 - lift * 2^16 + lower, and what is subtracted is added to its complement.
 */
function highOf(name: string, factor: number): string {
  const [upper, lower] = [Math.floor(factor / 2 ** 16), factor % 2 ** 16]
  const lift = 2 ** 16 - upper
  const carries = (2 ** 16 - 1) * (upper + lower) + 2 ** 16 > 2 ** 32
  return `fn ${name}(a: u32) -> u32 {
  let low = a & 0xffffu;
  let up = a >> 16u;
${carries
    ? `  let one = up * ${lower}u + ((low * ${lower}u + ${lift * 2 ** 16}u) >> 16u);
  return a - ${lift}u - up * ${lift}u + (((~a & 0xffffu) * ${lift}u + one) >> 16u);`
    : `  let one = up * ${lower}u + ((low * ${lower}u) >> 16u);
  return up * ${upper}u + ((low * ${upper}u + one) >> 16u);`}
}
`
}

/** philox4x32-10 of core/values/random.ts, whose first round meets zeros in all words but one. */
const PHILOX = `${highOf('high_0', FACTORS[0])}${highOf('high_1', FACTORS[1])}const STEP = vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
fn philox(block: u32, seed: u32, rounds: u32) -> vec4<u32> {
  var c = vec4<u32>(seed, 0u, high_0(block), ${FACTORS[0]}u * block);
  var key = vec2<u32>(seed, 0u) + STEP;
  for (var round = 1u; round < rounds; round++) {
    c = vec4<u32>(high_1(c.z) ^ c.y ^ key.x, ${FACTORS[1]}u * c.z, high_0(c.x) ^ c.w ^ key.y, ${FACTORS[0]}u * c.x);
    key += STEP;
  }
  return c;
}
`

const ROUNDS = 10
/** Elements up to which the rounds are a loop: a call of so few waits for the kernel's own text, which is shorter then. Written so that no constant takes the place of their number (wgsl/constants.ts). */
const FEW = 2 ** 20

/** Blocks of a thread beyond, all of which are read before the first is computed. */
const BLOCKS = 2

/** One block of random numbers for four elements; the rule stands in core/ops/dropout. */
const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape): Program => {
    const [p] = shape.scalars as [number]
    // 24 bits of a random number count: not below p of their range is above the number in front of its first one.
    const bound = Math.ceil(p * 2 ** 24) * 2 ** 8 - 1
    const above = bound < 0 ? '>= vec4<u32>(0u)' : '> vec4<u32>(dim(3u))'
    const vectors = Math.ceil(dimOf(shape, 0) / 4)
    const blocks = dimOf(shape, 0) <= FEW ? 1 : BLOCKS
    const each = (text: (b: number) => string) => Array.from({ length: blocks }, (_, b) => text(b)).join('\n')
    const { scratchBytes, steps } = mapped({
      tensors: [{ name: 'x', at: { input: 0 }, type: 'own4' }, { name: 'out', at: 'output', type: 'own4', write: true }],
      functions: PHILOX,
      body: blocks === 1 ? `  let kept = philox(i, dim(1u), dim(2)) ${above};\n  out[i] = own4(select(vec4<f32>(0.0), vec4<f32>(x[i]) * scalar(0u), kept));` : `${each((b) => `  let at_${b} = i / ${THREADS}u * ${blocks * THREADS}u + i % ${THREADS}u + ${b * THREADS}u;\n  let x_${b} = x[min(at_${b}, dim(4u) - 1u)];`)}
${each((b) => `  let kept_${b} = philox(at_${b}, dim(1u), ${ROUNDS}u) ${above};\n  if (at_${b} < dim(4u)) { out[at_${b}] = own4(select(vec4<f32>(0.0), vec4<f32>(x_${b}) * scalar(0u), kept_${b})); }`)}`,
      dims: [0, ROUNDS, Math.max(bound, 0), vectors],
      scalars: [1 / (1 - p)],
    }, shape.dtype, blocks === 1 ? vectors : Math.ceil(vectors / (blocks * THREADS)) * THREADS)
    return { scratchBytes, steps: steps.map((step) => ({ ...step, seedAt: 1 })) }
  },
}
export default kernel
