import { numbers, widthFor } from '../../wgsl/header'

/** WGSL `load_<name>(row, at)`: four elements of a row of `headDim` from vector `at` on, 0 beyond its end. */
export const loader = (name: string, headDim: number): string => `fn load_${name}(row: u32, at: u32) -> vec4<f32> {
  ${widthFor(headDim) === 4
    ? `return vec4<f32>(${name}[row * ${headDim / 4}u + at]);`
    : `let first = row * ${headDim}u;\n  return vec4<f32>(${numbers(4).map((j) => `select(0.0, f32(${name}[first + min(4u * at + ${j}u, ${headDim - 1}u)]), 4u * at + ${j}u < ${headDim}u)`).join(', ')});`}
}
`
