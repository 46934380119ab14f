import { gemm, matrix, vector, heads, table, type SizeForm } from './basic'
import { attention, block, conv1d, conv2d, conv3d, images, pool1d, pool2d } from './neural'

export { type ExtentSpec, type SizeForm, heads, table } from './basic'
export { gemm, matrix, vector, withNames } from './basic'
export { attention, block, conv1d, conv2d, conv3d, images } from './neural'
export { pool1d, pool2d } from './neural'

/** Every form under which sizes are picked, in the order that editors show them. */
export const SIZE_FORMS: readonly SizeForm[] = [vector, matrix, gemm, attention, block, images, conv1d, conv2d, conv3d, pool1d, pool2d, table, heads]
