import { step } from '../../wgsl/header'
import { planStaged, stagedText } from '../../wgsl/staged'
import type { Program } from '../types'

/** Short rows of no whole vectors in workgroup memory, a thread for each. Undefined for others. */
export function stagedSums(dtype: 'f32' | 'f16', rows: number, cols: number): Program | undefined {
  const plan = planStaged(rows, cols)
  if (!plan) return undefined
  const wgsl = stagedText({
    plan, length: cols, dtype, staged: ['x'], others: [],
    body: `    var carry = 0.0;
    for (var i = base; i < base + ${cols}u; i++) { carry += x_staged[i]; x_staged[i] = carry; }`,
  })
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, 'output'], [rows], Math.ceil(rows / plan.rows))] }
}
