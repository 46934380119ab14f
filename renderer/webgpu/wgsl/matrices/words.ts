import type { KernelShape, SubgroupMatrices } from '../../kernels/types'

/**
 * WGSL of Chromium's experiment with subgroup matrices. Offsets and strides count elements. A load or a store belongs to a whole subgroup,
 * and so must the branch that it stands in; the rule that would prove it is off, because it does not see that a subgroup's number is the same for its threads.
 */
export const MATRIX_DIRECTIVES = 'enable chromium_experimental_subgroup_matrix;\ndiagnostic(off, chromium.subgroup_matrix_uniformity);\n'

/**
 * The product of these types that the device offers, whose sides divide `sides`: of several the one with the most steps of k, and of these the one with the fewest
 * sums (H200, f16 at 4096: 16x8x16 1.12x of 16x16x16, 1.01x of 16x8x8). Undefined where there is none.
 */
export function matricesOf({ matrices = [] }: Pick<KernelShape, 'matrices'>, component: SubgroupMatrices['component'], sides: { m: number; n: number; k: number }): SubgroupMatrices | undefined {
  const fitting = matrices.filter((one) => one.component === component && sides.m % one.m === 0 && sides.n % one.n === 0 && sides.k % one.k === 0)
  return fitting.sort((x, y) => y.k - x.k || x.m * x.n - y.m * y.n)[0]
}

/** The types of the operands and of the sums. */
export const matrixTypes = ({ component, result, m, n, k }: SubgroupMatrices) =>
  ({ left: `subgroup_matrix_left<${component}, ${k}, ${m}>`, right: `subgroup_matrix_right<${component}, ${n}, ${k}>`, sums: `subgroup_matrix_result<${result}, ${n}, ${m}>` }) as const

/** Loads a matrix from an array in workgroup or storage memory: `stride` from one row to the next, or of one column to the next where it lies `turned`. */
export const loadMatrix = (type: string, array: string, offset: string, stride: string, turned = false): string => `subgroupMatrixLoad<${type}, ${turned ? 'col_major' : 'row_major'}>(&${array}, ${offset}, ${stride})`

/** Stores a matrix by rows. */
export const storeMatrix = (array: string, offset: string, matrix: string, stride: string): string => `subgroupMatrixStore<row_major>(&${array}, ${offset}, ${matrix}, ${stride});`

/** sums + left right */
export const multiplied = (left: string, right: string, sums: string): string => `subgroupMatrixMultiplyAccumulate(${left}, ${right}, ${sums})`
