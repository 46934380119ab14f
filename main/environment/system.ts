import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '@core/session/types'

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

/** The distribution's own name for itself out of os-release text (freedesktop.org), or undefined. */
export function parseOsRelease(text: string): string | undefined {
  const value = /^PRETTY_NAME=(.*)$/m.exec(text)?.[1]?.trim()
  return value?.replace(/^(["'])(.*)\1$/, '$2') || undefined
}

/** The processor's name out of /proc/cpuinfo, which some architectures give under other keys, or undefined. */
export function parseCpuInfo(text: string): string | undefined {
  for (const key of ['model name', 'Hardware', 'cpu model', 'Model']) {
    const value = new RegExp(`^${key}\\s*:\\s*(.+)$`, 'm').exec(text)?.[1]?.trim()
    if (value) return value
  }
  return undefined
}

type Caches = NonNullable<Environment['caches']>

/** One cache as the kernel lists it for one processor: /sys/devices/system/cpu/cpuN/cache/indexM. */
export interface CacheEntry {
  /** `1`, `2`, `3`. */
  level: string
  /** `Data`, `Instruction`, `Unified`. */
  type: string
  /** `32K`, `1024K`, `32M`. */
  size: string
  /** Processors that share this instance: `0-3,8`. */
  shared: string
}

const LETTERS: Readonly<Record<string, number>> = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }

/** `1024K` as bytes; undefined where it is not a size. */
export function parseSize(text: string): number | undefined {
  const [, digits, letter] = /^(\d+)([KMG]?)$/.exec(text.trim()) ?? []
  const bytes = Number(digits) * (LETTERS[letter ?? ''] ?? NaN)
  return bytes > 0 ? bytes : undefined
}

/**
 * Caches that hold data, smallest level first, with the number of instances: the same list of sharing processors is the
 * same cache seen from each of them. Cores of different kinds give a line per size.
 */
export function summarizeCaches(entries: readonly CacheEntry[]): Caches {
  const found = new Map<string, { name: string; level: number; bytes: number; instances: Set<string> }>()
  for (const { level, type, size, shared } of entries) {
    const bytes = parseSize(size)
    if (bytes === undefined || type.trim() === 'Instruction') continue
    const name = `L${level.trim()}${type.trim() === 'Data' ? 'd' : ''}`
    const key = `${name} ${bytes}`
    const known = found.get(key) ?? { name, level: Number(level), bytes, instances: new Set<string>() }
    known.instances.add(shared.trim())
    found.set(key, known)
  }
  return [...found.values()].sort((a, b) => a.level - b.level || a.bytes - b.bytes).map(({ name, bytes, instances }) => ({ name, bytes, instances: instances.size }))
}

const CPUS = '/sys/devices/system/cpu'

/** The processor's caches on Linux; undefined where the system does not list them. */
export function readCaches(root = CPUS): Caches | undefined {
  const entries = namesIn(root, /^cpu\d+$/).flatMap((cpu) =>
    namesIn(join(root, cpu, 'cache'), /^index\d+$/).map((index) => {
      const read = (name: string) => readText(join(root, cpu, 'cache', index, name))
      return { level: read('level'), type: read('type'), size: read('size'), shared: read('shared_cpu_list') }
    }),
  )
  const caches = summarizeCaches(entries)
  return caches.length > 0 ? caches : undefined
}
