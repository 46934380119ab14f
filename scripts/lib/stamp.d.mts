/** Files below these paths, sorted. */
export function filesBelow(paths: readonly string[], skip?: (path: string) => boolean): string[]

/** SHA-256 over names and contents of files. */
export function hashOf(files: readonly string[], salt?: string): string
