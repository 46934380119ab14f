import { existsSync, readFileSync } from 'node:fs'
import type { z } from 'zod'
import { DEFAULT_SETTINGS, settingsSchema, type Settings } from '@core/settings'
import { writeFileAtomic } from '../write-file'

export interface SettingsStore {
  get(): Settings
  /** Changes these keys and saves; a key given as undefined goes back to its default. Throws when the file cannot be written. */
  set(change: Partial<Settings>): Settings
  /** What was wrong with the file at start, for the user. */
  readonly notice?: string
}

/** Takes over what is right; a damaged key is as if it had never been set. */
function parseSettings(value: unknown): { settings: Settings; damaged: string[] } {
  const settings: Settings = { ...DEFAULT_SETTINGS }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { settings, damaged: ['everything'] }
  const damaged: string[] = []
  const shape: Record<string, z.ZodType> = settingsSchema.shape
  for (const [key, schema] of Object.entries(shape)) {
    if (!Object.hasOwn(value, key)) continue
    const parsed = schema.safeParse((value as Record<string, unknown>)[key])
    if (parsed.success) Object.assign(settings, { [key]: parsed.data })
    else damaged.push(key)
  }
  return { settings, damaged }
}

function readSettings(file: string): { settings: Settings; notice?: string } {
  if (!existsSync(file)) return { settings: { ...DEFAULT_SETTINGS } }
  try {
    const { settings, damaged } = parseSettings(JSON.parse(readFileSync(file, 'utf8')))
    return damaged.length === 0 ? { settings } : { settings, notice: `Some settings could not be read and are back at their defaults: ${damaged.join(', ')}.` }
  } catch {
    return { settings: { ...DEFAULT_SETTINGS }, notice: 'The settings could not be read and are back at their defaults.' }
  }
}

/** The settings in `file`. */
export function openSettings(file: string): SettingsStore {
  const read = readSettings(file)
  let { settings } = read
  return {
    get: () => settings,
    set(change) {
      const next = { ...DEFAULT_SETTINGS, ...Object.fromEntries(Object.entries({ ...settings, ...change }).filter(([, value]) => value !== undefined)) }
      settings = settingsSchema.parse(next)
      writeFileAtomic(file, [JSON.stringify(settings, null, 2)])
      return settings
    },
    ...(read.notice === undefined ? {} : { notice: read.notice }),
  }
}
