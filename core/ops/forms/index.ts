import type { SizeForm } from './types'
import { gemm, matrix, vector } from './basic'
import { heads, table } from './lookup'
import { attention, block, conv1d, conv2d, conv3d, images } from './neural'
import { pool1d, pool2d } from './pooling'

export type { ExtentSpec, SizeForm } from './types'
export { gemm, matrix, vector, withNames } from './basic'
export { heads, table } from './lookup'
export { attention, block, conv1d, conv2d, conv3d, images } from './neural'
export { pool1d, pool2d } from './pooling'

/** Every form under which sizes are picked, in the order that editors show them. */
export const SIZE_FORMS: readonly SizeForm[] = [vector, matrix, gemm, attention, block, images, conv1d, conv2d, conv3d, pool1d, pool2d, table, heads]
