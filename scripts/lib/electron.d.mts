export type ElectronBinary = { path: string; source: 'override' | 'official' | 'carried' } | { reason: string }

/** The Electron to use, without fetching anything. */
export function electronBinary(): ElectronBinary

/** The Electron to use, fetched when there is none. */
export function prepareElectron(): Promise<ElectronBinary>
