import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import { makeFolder } from '../../../paths'
import { writeFileAtomic } from '../../../write-file'
import { probeSchema, type Probe } from '../protocol'

const cacheSchema = z.record(z.string(), z.object({ stamp: z.string(), probe: probeSchema }))
type Entries = z.infer<typeof cacheSchema>

/** What interpreters have said, kept in a file: importing PyTorch takes seconds. A file that cannot be read or written is none. */
export class ProbeCache {
  readonly #entries: Entries

  constructor(private readonly file: string) {
    this.#entries = read(file)
  }

  get(path: string, stamp: string): Probe | undefined {
    const entry = this.#entries[path]
    return entry?.stamp === stamp ? entry.probe : undefined
  }

  put(path: string, stamp: string, probe: Probe): void {
    this.#entries[path] = { stamp, probe }
    try {
      makeFolder(dirname(this.file))
      writeFileAtomic(this.file, [JSON.stringify(this.#entries)])
    } catch {
      // They are asked again at the next start.
    }
  }
}

function read(file: string): Entries {
  try {
    return cacheSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return {}
  }
}
