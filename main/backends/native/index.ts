import { delimiter, join } from 'node:path'
import type { Backend, EnergyMeter } from '@core/backend'
import { dataFolder, homeFolder } from '../../paths'
import { loadAddon, locateAddon, type EnergySource, type NativeAddon, type NativeGpuWatch } from './addon'
import { energyMeter } from './energy'
import { NativeBackend } from './backend'
import { cudaLibraryFolders } from './cuda-libraries'

export type { NativeAddon, NativePart } from './addon'
export { locateAddon } from './addon'

/** The addon, or why it cannot be had and what would help, in one sentence. */
function nativeAddon(): { addon: NativeAddon; path: string } | { problem: string } {
  const path = locateAddon(import.meta.dirname)
  if (path === undefined) return { problem: 'the native part is not built: run npm run setup (it needs CMake, Ninja and a C++20 compiler)' }
  try {
    return { addon: loadAddon(path), path }
  } catch (thrown) {
    return { problem: `the native part at ${path} could not be loaded: ${thrown instanceof Error ? thrown.message : String(thrown)}` }
  }
}

/** Where NVIDIA's libraries are looked for: as for Pythons, those that the user has named first. */
const libraryFolders = (named: readonly string[]) => cudaLibraryFolders({ env: process.env, home: homeFolder(), cwd: process.cwd(), platform: process.platform, named })

/** The CPU and CUDA backends. `pythons`: programs or environments that the user has named. Without the addon there are none, and `problem` says why. */
export function nativeBackends(pythons: readonly string[] = []): { backends: Backend[]; problem?: string } {
  const found = nativeAddon()
  if ('problem' in found) return { backends: [], problem: found.problem }
  const folders = libraryFolders(pythons)
  found.addon.setLibraryFolders?.(folders)
  // The Python worker's part of the addon reads them from its environment.
  process.env['OPSCOPE_CUDA_LIBRARIES'] ??= folders.join(delimiter)
  process.env['OPSCOPE_KERNEL_CACHE'] ??= join(dataFolder(), 'kernels')
  return { backends: [new NativeBackend(found.addon, 'cpu'), new NativeBackend(found.addon, 'cuda')] }
}

/** The energy counter of a device that other processes of Opscope compute on, or why it cannot be read. */
export function openEnergyMeter(source: EnergySource, graphs: boolean): EnergyMeter | { reason: string } {
  const found = nativeAddon()
  return 'problem' in found ? { reason: found.problem } : energyMeter(found.addon, source, graphs)
}

/** Watches the one GPU of this name, on which process `worker` computes (0: not known). Throws where that cannot be done. */
export function openGpuWatch(name: string, worker: number): NativeGpuWatch {
  const found = nativeAddon()
  if ('problem' in found) throw new Error(found.problem)
  return new found.addon.GpuWatch(name, worker)
}
