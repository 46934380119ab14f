/** Argument that makes Electron measure WebGPU for a command line instead of showing the app. */
export const HOST_FLAG = '--opscope-webgpu-host'

/** Whether this process was started to measure for a command line. */
export const isWebgpuHost = (argv: readonly string[] = process.argv): boolean => argv.includes(HOST_FLAG)
