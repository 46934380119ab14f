import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let folder: string | undefined

/**
 * A folder in which the measurement processes of this start note that they are on a GPU, so that none takes another for a
 * stranger that disturbs it (native/cuda/nvml). Made when first asked for, gone with this process.
 */
export function gpuHoldersFolder(): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'opscope-gpu-'))
    process.on('exit', () => rmSync(made, { recursive: true, force: true }))
    folder = made
  }
  return folder
}
