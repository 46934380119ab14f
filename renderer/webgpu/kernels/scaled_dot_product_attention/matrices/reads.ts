import { numbers } from '../../../wgsl/header'

/**
 * How rows of halves are read, eight at a time. `type` is that of the binding's elements; `functions` has `vector_of_<name>(at)`, the eight from element `at` on.
 * `row` is the length of the rows: where these are whole vectors eight are one read, where they are whole words four, else five words from which they are shifted.
 */
export function vectorReads(name: string, row: number): { type: string; functions: string } {
  const read = (type: string, body: string) => ({ type, functions: `fn vector_of_${name}(at: u32) -> vec4<u32> {\n  ${body}\n}\n` })
  if (row % 8 === 0) return read('vec4<u32>', `return ${name}[at / 8u];`)
  if (row % 4 === 0) return read('vec2<u32>', `let i = at / 4u; return vec4<u32>(${name}[i], ${name}[i + 1u]);`)
  const words = `let i = at / 2u;\n  let words = vec4<u32>(${numbers(4).map((j) => `${name}[i + ${j}u]`).join(', ')});`
  if (row % 2 === 0) return read('u32', `${words}\n  return words;`)
  return read('u32', `${words}
  if (at % 2u == 0u) { return words; }
  return (words >> vec4<u32>(16u)) | (vec4<u32>(words.yzw, ${name}[i + 4u]) << vec4<u32>(16u));`)
}

/** `kept(vector, count)`: the vector with all but its first `count` halves zero. */
export const KEPT = `fn kept_word(word: u32, count: u32, before: u32) -> u32 {
  if (count >= before + 2u) { return word; }
  return select(word & 0xffffu, 0u, count <= before);
}
fn kept(vector: vec4<u32>, count: u32) -> vec4<u32> { return vec4<u32>(${numbers(4).map((j) => `kept_word(vector[${j}], count, ${2 * j}u)`).join(', ')}); }
`
