import type { SubgroupMatrices } from '../kernels/types'

/** Bytes of a vector in which tiles of matrices come and lie: `vec4<u32>`. */
export const VECTOR_BYTES = 16

/** Elements of a vector. */
export const elementsOf = (component: SubgroupMatrices['component']): number => VECTOR_BYTES / (component === 'f16' ? 2 : 1)

/** Vectors from one line of a tile to the next: one more than it has, so that eight lines lie in different banks. */
export const strideOf = (vectors: number): number => vectors + 1

/**
 * How an operand is read, a vector at a time. `type` is that of its binding's elements; `functions` has `vector_of_<name>(at)`, the vector from element `at` on.
 * `row` is the length of its rows: where these are whole vectors a vector is one read, where they are whole words four, else five words from which it is shifted.
 */
export function vectorReads(name: string, component: SubgroupMatrices['component'], row: number): { type: string; functions: string } {
  const each = elementsOf(component)
  const perWord = each / 4
  const read = (type: string, body: string) => ({ type, functions: `fn vector_of_${name}(at: u32) -> vec4<u32> {\n  ${body}\n}\n` })
  if (row % each === 0) return read('vec4<u32>', `return ${name}[at / ${each}u];`)
  if (row % (each / 2) === 0) return read('vec2<u32>', `let i = at / ${each / 2}u; return vec4<u32>(${name}[i], ${name}[i + 1u]);`)
  const words = `let i = at / ${perWord}u;\n  let words = vec4<u32>(${name}[i], ${name}[i + 1u], ${name}[i + 2u], ${name}[i + 3u]);`
  if (row % perWord === 0) return read('u32', `${words}\n  return words;`)
  return read('u32', `${words}
  let shift = ${32 / perWord}u * (at % ${perWord}u);
  if (shift == 0u) { return words; }
  return (words >> vec4<u32>(shift)) | (vec4<u32>(words.yzw, ${name}[i + 4u]) << vec4<u32>(32u - shift));`)
}

/** `kept(vector, count)`: the vector with all but its first `count` elements zero. */
export function keptText(component: SubgroupMatrices['component']): string {
  const perWord = elementsOf(component) / 4
  const bits = 32 / perWord
  const word = (j: number) => `kept_word(vector[${j}], count, ${j * perWord}u)`
  return `fn kept_word(word: u32, count: u32, before: u32) -> u32 {
  if (count >= before + ${perWord}u) { return word; }
  if (count <= before) { return 0u; }
  return word & ((1u << (${bits}u * (count - before))) - 1u);
}
fn kept(vector: vec4<u32>, count: u32) -> vec4<u32> { return vec4<u32>(${[0, 1, 2, 3].map(word).join(', ')}); }
`
}
