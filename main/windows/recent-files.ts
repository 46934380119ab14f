import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { z } from 'zod'
import { writeFileAtomic } from '../write-file'

const MAX_RECENT = 10
const recentSchema = z.array(z.object({ path: z.string().min(1).max(4096), sessionId: z.string().min(1).max(64) })).max(MAX_RECENT)
/** A file that was imported, and the session it became. */
export type RecentFile = z.infer<typeof recentSchema>[number]

/** The files imported last, newest first, kept in the data folder. Only main sees their paths; the menu shows their names. */
export class RecentFiles {
  #files: readonly RecentFile[]

  constructor(
    private readonly file: string,
    private readonly onChange: (files: readonly RecentFile[]) => void = () => undefined,
  ) {
    this.#files = read(file)
  }

  list(): readonly RecentFile[] {
    return this.#files
  }

  add(path: string, sessionId: string): void {
    this.#save([{ path, sessionId }, ...this.#files.filter((other) => other.path !== path)].slice(0, MAX_RECENT))
  }

  remove(path: string): void {
    this.#save(this.#files.filter((other) => other.path !== path))
  }

  clear(): void {
    this.#save([])
  }

  #save(files: readonly RecentFile[]): void {
    this.#files = files
    try {
      writeFileAtomic(this.file, [JSON.stringify(files, undefined, 2)])
    } catch {
      // A list that is short of one file at the next start is not worth a message.
    }
    this.onChange(files)
  }
}

function read(file: string): readonly RecentFile[] {
  if (!existsSync(file)) return []
  try {
    return recentSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return []
  }
}

/** Names for the menu: that of the file, with its folder where two are called alike. */
export function recentTitles(files: readonly RecentFile[]): string[] {
  const names = files.map(({ path }) => basename(path))
  return files.map(({ path }, i) => (names.filter((name) => name === names[i]).length > 1 ? `${names[i]!} (${path.slice(0, -names[i]!.length - 1)})` : names[i]!))
}
