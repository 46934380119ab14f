import { numbers } from '../../../wgsl/header'
import { strideOf } from '../../../wgsl/matrices/tile'
import { loadMatrix, matrixTypes } from '../../../wgsl/matrices/words'
import type { MatrixPlan } from './plan'

const each = <T>(of: readonly T[], text: (at: T) => string, by = '\n') => of.map(text).join(by)

/** Powers of two by which a score may pass the largest one in use before sums are scaled: weights stay far below the largest f16. */
const HEADROOM = 8

/**
 * WGSL that makes weights, as matrices `weight_<r>_<b>`, of the scores of a tile of keys. Elements of a matrix cannot be reached, so sums are scaled through workgroup memory (`scaled`, by `kept`), and only
 * when a score passes the largest one in use, `top`, by HEADROOM. Threads that share a row have a `total` each, which `total` adds up.
 */
export function softmaxText({ matrices, lanes, rows, keys }: MatrixPlan, whenSeen: (text: string) => string, scaled: string): { quads: number; functions: string; weights: string; total: string } {
  const { m, k } = matrices
  const { left } = matrixTypes(matrices)
  const scoreStride = strideOf(keys / 4)
  // Several threads share a row where a subgroup has more threads than queries.
  const perThread = keys / (lanes / rows)
  const quads = numbers(perThread / 4)
  const exchanged = (name: string, by: (a: string, b: string) => string) => each(numbers(Math.log2(lanes / rows)), (s) => `      ${name} = ${by(name, `subgroupShuffleXor(${name}, ${rows << s}u)`)};`)
  // Weights of a row lie where the scores of the same thread were.
  const weightAt = (r: number, b: number) => {
    const thread = Math.floor((b * k) / perThread)
    return `${r * m * scoreStride + (thread * perThread) / 4 + (b * k - thread * perThread) / 8}u`
  }
  const scores = `${each(quads, (j) => `      s_${j} = bitcast<vec4<f32>>(scores[subgroup][own_at + ${j}u]);`)}
      if (first_key + ${keys}u > limit) {
        let place = vec4<u32>(first_key + own_key) + vec4<u32>(0u, 1u, 2u, 3u);
${each(quads, (j) => `        s_${j} = select(vec4<f32>(-1e30), s_${j}, place + vec4<u32>(${4 * j}u) < vec4<u32>(limit));`)}
      }
      var highest = s_0;
${each(quads.slice(1), (j) => `      highest = max(highest, s_${j});`)}
      var high = max(max(highest.x, highest.y), max(highest.z, highest.w));
${exchanged('high', (a, b) => `max(${a}, ${b})`)}
      high *= factor;`
  const made = `      var weighed = vec4<f32>(0.0);
${each(quads, (j) => `      s_${j} = exp2(s_${j} * factor - top); weighed += s_${j};`)}
      total += (weighed.x + weighed.y) + (weighed.z + weighed.w);
${each(numbers(quads.length / 2), (j) => `      scores[subgroup][own_at + ${j}u] = vec4<u32>(pack2x16float(s_${2 * j}.xy), pack2x16float(s_${2 * j}.zw), pack2x16float(s_${2 * j + 1}.xy), pack2x16float(s_${2 * j + 1}.zw));`)}`
  const loaded = each(numbers(rows / m), (r) => each(numbers(keys / k), (b) => `    let weight_${r}_${b} = ${loadMatrix(left, 'scores[subgroup]', weightAt(r, b), `${scoreStride}u`)};`))
  const weights = `${each(quads, (j) => `    var s_${j}: vec4<f32>;`)}
    var kept = 1.0;
    ${whenSeen(`${scores}
      if (high > top + ${HEADROOM}.0) {
        kept = exp2(top - high);
        total *= kept;
        top = high;
        if (first_key != start) { raised = first_key; }
      }
${made}`)}
    let is_raised = workgroupUniformLoad(&raised) == first_key && first_key != start;
${loaded}
    if (is_raised) {
      workgroupBarrier();
${scaled}
    }`
  return {
    quads: quads.length,
    functions: `fn scale_scores(subgroup: u32, at: u32, by: f32) {\n${each(quads, (j) => `  scores[subgroup][at + ${j}u] = bitcast<vec4<u32>>(bitcast<vec4<f32>>(scores[subgroup][at + ${j}u]) * by);`)}\n}`,
    weights,
    total: exchanged('total', (a, b) => `${a} + ${b}`),
  }
}
