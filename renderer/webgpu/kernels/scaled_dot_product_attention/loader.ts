import { numbers, widthFor } from '../../wgsl/header'

/** WGSL `load_<name>(row, at)`: four elements of a row of `headDim` from vector `at` on, 0 beyond its end. `isWhole`: no vector beyond the end of a row of whole vectors is asked for. */
export const loader = (name: string, headDim: number, isWhole = true): string => `fn load_${name}(row: u32, at: u32) -> vec4<f32> {
  ${widthFor(headDim) === 4
    ? isWhole ? `return vec4<f32>(${name}[row * ${headDim / 4}u + at]);` : `return select(vec4<f32>(0.0), vec4<f32>(${name}[row * ${headDim / 4}u + min(at, ${headDim / 4 - 1}u)]), at < ${headDim / 4}u);`
    : `let first = row * ${headDim}u;\n  return vec4<f32>(${numbers(4).map((j) => `select(0.0, f32(${name}[first + min(4u * at + ${j}u, ${headDim - 1}u)]), 4u * at + ${j}u < ${headDim}u)`).join(', ')});`}
}
`
