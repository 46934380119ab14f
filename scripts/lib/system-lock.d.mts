/** Holds `file` once no other process does; resolves with what gives it up. Rejects when `signal` aborts first. */
export function takeLock(file: string, onWait?: (owner: string) => void, signal?: AbortSignal): Promise<() => Promise<void>>
