import { mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import { writeFileAtomic } from '../../write-file'

/** Adapters whose sweeps are kept; the one measured longest ago makes room. */
const MAX_KEPT = 16

const keySchema = z.string().min(1).max(1000)
const ratesSchema = z.array(z.object({ bytes: z.int().positive(), rate: z.number().positive() })).min(1).max(64)
const sweepSchema = z.object({ key: keySchema, measuredAt: z.iso.datetime(), rates: ratesSchema })
const fileSchema = z.array(sweepSchema)

/** Bandwidth of reads by size, as the page measured it on an adapter. */
export type CacheSweep = z.infer<typeof sweepSchema>

/** Sweeps of the last-level caches of WebGPU adapters in a file. What the page sends is checked; nothing throws, because a sweep that is not kept is measured again. */
export interface CacheSweeps {
  /** The sweep of an adapter, driver and browser, where one was kept. */
  get(key: unknown): CacheSweep | undefined
  put(key: unknown, rates: unknown, now?: Date): void
}

export function cacheSweeps(file: string): CacheSweeps {
  const read = (): CacheSweep[] => {
    try {
      return fileSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
    } catch {
      return []
    }
  }
  return {
    get: (key) => read().find((sweep) => sweep.key === key),
    put(key, rates, now = new Date()) {
      try {
        const sweep = sweepSchema.parse({ key, measuredAt: now.toISOString(), rates })
        mkdirSync(dirname(file), { recursive: true })
        writeFileAtomic(file, [JSON.stringify([...read().filter((other) => other.key !== sweep.key), sweep].slice(-MAX_KEPT))])
      } catch {
        // Not whole, or no room for it.
      }
    },
  }
}
