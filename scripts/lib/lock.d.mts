/** Runs `work` while no other set-up holds `file`. */
export function withLock<T>(file: string, work: () => Promise<T>): Promise<T>
