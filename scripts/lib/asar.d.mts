/** An asar archive of a few text files in one flat folder. */
export function packAsar(files: Readonly<Record<string, string>>): Buffer
