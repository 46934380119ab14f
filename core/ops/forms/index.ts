import { gemm, heads, matrix, table, vector, type SizeForm } from './basic'
import { attention, block, conv1d, conv2d, conv3d, images, pool1d, pool2d } from './neural'

export * from './basic'
export * from './neural'

/** Every form under which sizes are picked, in the order that editors show them. */
export const SIZE_FORMS: readonly SizeForm[] = [vector, matrix, gemm, attention, block, images, conv1d, conv2d, conv3d, pool1d, pool2d, table, heads]
