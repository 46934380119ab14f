import { makeTemporaryFolder } from '../temporary'

let folder: string | undefined

/**
 * A folder in which the measurement processes of this start note that they are on a GPU, so that none takes another for a
 * stranger that disturbs it (native/cuda/nvml). Made when first asked for, gone with this process.
 */
export const gpuHoldersFolder = (): string => (folder ??= makeTemporaryFolder('opscope-gpu'))
