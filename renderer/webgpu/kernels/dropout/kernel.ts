import { THREADS } from '../../wgsl/header'
import { mapped } from '../../wgsl/mapped'
import { dimOf, type Kernel, type Program } from '../types'

/** The factors of Philox. */
const FACTORS = [0xd2511f53, 0xcd9e8d57] as const

/** The upper half of a factor, and lower - 2^16 * upper: a number's products with both halves are its own with the first and that of its upper half with the second. */
function halvesOf(factor: number): { upper: number; rest: number } {
  const upper = Math.floor(factor / 2 ** 16)
  return { upper, rest: (factor % 2 ** 16) - 2 ** 16 * upper + 2 ** 32 }
}

/**
 * WGSL `times_0` and `times_1` of a number with the factors: upper half, and lower half, of which the first gives the complement. In units of 2^16 a product is
 * a sum of products of 16 bits that fits 32 bits, and a carry from below. The lower half says what the sum is with the carry, because both have the same lower
 * 16 bits: so no product of lower halves is needed. With the second factor the sum may need 33 bits, so what is multiplied is 2^32 - factor.
 */
function timesFactors(): string {
  const [first, second] = [FACTORS[0], 2 ** 32 - FACTORS[1]]
  const [zero, one] = [halvesOf(first), halvesOf(second)]
  return `fn times_0(a: u32) -> vec2<u32> {
  let up = a >> 16u;
  let not_low = a * ${2 ** 32 - first}u + 0xffffffffu;
  let sum = up * ${zero.rest}u + (a * ${zero.upper}u + (not_low >> 16u));
  return vec2<u32>(up * ${zero.upper}u + (sum >> 16u), not_low);
}
fn times_1(a: u32) -> vec2<u32> {
  let up = a >> 16u;
  let low = a * ${FACTORS[1]}u;
  let sum = up * ${one.rest}u + (a * ${one.upper}u + 0xffffu) + (low >> 16u);
  return vec2<u32>(up * ${2 ** 32 - one.upper}u + a - (sum >> 16u), low);
}
`
}

/** philox4x32-10 of core/values/random.ts, whose first round meets zeros in all words but one. */
const PHILOX = `${timesFactors()}const STEP = vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
fn philox(block: u32, seed: u32, rounds: u32) -> vec4<u32> {
  let first = times_0(block);
  var c = vec4<u32>(seed, 0u, first.x, ~first.y);
  var key = vec2<u32>(seed, 0u) + STEP;
  for (var round = 1u; round < rounds; round++) {
    let z = times_1(c.z);
    let x = times_0(c.x);
    c = vec4<u32>(z.x ^ c.y ^ key.x, z.y, x.x ^ c.w ^ key.y, ~x.y);
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
