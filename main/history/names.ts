import { existsSync } from 'node:fs'

/** A name beside `file` that is not taken and tells what it is and when it was made: `history.db.damaged-20260301-101500`. */
export function nameBeside(file: string, what: string, now = new Date()): string {
  const stamp = now.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
  const name = `${file}.${what}-${stamp}`
  for (let i = 1; ; i++) {
    const free = i === 1 ? name : `${name}-${i}`
    if (!existsSync(free)) return free
  }
}
