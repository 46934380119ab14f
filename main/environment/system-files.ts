import { readdirSync, readFileSync } from 'node:fs'

/** A small system file as text; empty where it is missing or may not be read. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Names in a folder that match; none where it is missing or may not be read. */
export function namesIn(folder: string, pattern: RegExp): string[] {
  try {
    return readdirSync(folder).filter((name) => pattern.test(name))
  } catch {
    return []
  }
}
