/** Packs what is built with this Electron into `output` and returns the packed program. Throws SetupError. */
export function packApp(electron: string, options: { test: boolean; installer: boolean; output?: string }): Promise<string>
