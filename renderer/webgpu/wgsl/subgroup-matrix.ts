import type { KernelShape, SubgroupMatrices } from '../kernels/types'

/**
 * WGSL of Chromium's experiment with subgroup matrices. Offsets and strides count elements. A load or a store belongs to a whole subgroup,
 * and so must the branch that it stands in; the rule that would prove it is off, because it does not see that a subgroup's number is the same for its threads.
 */
export const MATRIX_DIRECTIVES = 'enable chromium_experimental_subgroup_matrix;\ndiagnostic(off, chromium.subgroup_matrix_uniformity);\n'

/** The largest product of these types that the device offers and whose sides divide `sides`. Undefined where there is none. */
export function matricesOf({ matrices = [] }: Pick<KernelShape, 'matrices'>, component: SubgroupMatrices['component'], sides: { m: number; n: number; k: number }): SubgroupMatrices | undefined {
  const size = ({ m, n, k }: SubgroupMatrices) => m * n * k
  return matrices.filter((one) => one.component === component && sides.m % one.m === 0 && sides.n % one.n === 0 && sides.k % one.k === 0).reduce<SubgroupMatrices | undefined>((best, one) => (best === undefined || size(one) > size(best) ? one : best), undefined)
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
