import { app, type IpcMainEvent, type IpcMainInvokeEvent, type WebContents } from 'electron'
import { gpuHoldersFolder } from '../../../measurement/gpu-holders'
import { findProgram } from '../../../measurement/host'
import { forkUtilityProcess } from '../../../measurement/utility-process'
import { createWatchOwner, type WatchOwner } from './owner'

/** As in preload/webgpu.ts. */
const CHANNELS = { open: 'webgpu-watch:open', begin: 'webgpu-watch:begin', end: 'webgpu-watch:end' } as const

/** This app's processes on the GPU are known by a folder: a command line's, which started this Electron, or our own. */
const environment = (): NodeJS.ProcessEnv => ({ ...process.env, OPSCOPE_GPU_HOLDERS: process.env['OPSCOPE_GPU_HOLDERS'] ?? gpuHoldersFolder() })

/** Chromium computes WebGPU in its GPU process, which is no stranger on the card. */
const gpuProcess = (): number => app.getAppMetrics().find(({ type }) => type === 'GPU')?.pid ?? 0

/** Lets a page that `isOurs` have the card behind its adapter watched. Nothing is started before it asks. */
export function watchFor(contents: WebContents, isOurs: (event: IpcMainEvent | IpcMainInvokeEvent) => boolean): WatchOwner {
  const owner = createWatchOwner(() => forkUtilityProcess(findProgram('gpu-watch.js'), environment(), 'Opscope GPU watch'), gpuProcess)
  contents.ipc.handle(CHANNELS.open, (event, name: unknown) => isOurs(event) && owner.open(name))
  contents.ipc.on(CHANNELS.begin, (event, long: unknown) => {
    if (isOurs(event)) owner.begin(long)
  })
  contents.ipc.handle(CHANNELS.end, (event) => (isOurs(event) ? owner.end() : undefined))
  return owner
}
