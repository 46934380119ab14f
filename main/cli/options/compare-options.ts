import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { FAIL_ON, FILTER_KEYS, type CaseFilter, type FailOn, type OpThresholds } from '@core/compare'
import { importSession } from '@core/formats/registry'
import type { SessionSummary } from '@core/session/types'
import type { FileSides } from '../../compare/file-sides'
import { readText } from '../../import/read-text'
import { oneLine } from '../../printable'
import { pickList, pickOne, words, UsageError, findSession } from './choices'

/** What `opscope compare` takes beside sessions and files. */
export interface CompareOptions {
  by?: string
  baseline?: string
  threshold?: string
  perOpThreshold?: string
  failOn?: string
  format?: string
  redact?: string
  ops?: string
  families?: string
  dtypes?: string
  modes?: string
  backends?: string
  devices?: string
  hosts?: string
  resolve?: boolean
  json?: boolean
}

const COMPARE_FORMATS = ['text', 'markdown', 'csv', 'json', 'html'] as const
export type CompareFormat = (typeof COMPARE_FORMATS)[number]

/** `2%` or `0.02` as a fraction; `option` is named when it is neither. */
export function readThreshold(text: string, option = '--threshold'): number {
  const found = /^(\d+(?:\.\d+)?|\.\d+)\s*(%?)$/.exec(text.trim())
  const value = found ? Number(found[1]) / (found[2] ? 100 : 1) : NaN
  if (!(value >= 0 && value < 1)) throw new UsageError(`${option} expects a share such as 2% or 0.02, received "${text}"`)
  return value
}

/** `softmax=3%,add=0.5%` as fractions by op. */
export function readOpThresholds(text: string): OpThresholds {
  return Object.fromEntries(
    words('thresholds', text).map((word) => {
      const at = word.lastIndexOf('=')
      if (at < 1) throw new UsageError(`--per-op-threshold expects a list such as softmax=3%,add=0.5%, received "${word}"`)
      return [word.slice(0, at).trim(), readThreshold(word.slice(at + 1), `--per-op-threshold of ${word.slice(0, at).trim()}`)] as const
    }),
  )
}

export const readFailOn = (text: string): FailOn[] => pickList('verdict to fail on', text, FAIL_ON)

export function formatOf({ format, json }: Pick<CompareOptions, 'format' | 'json'>): CompareFormat {
  if (format === undefined) return json ? 'json' : 'text'
  const picked = pickOne('format', format, COMPARE_FORMATS)
  if (json && picked !== 'json') throw new UsageError(`--json and --format ${picked} exclude each other`)
  return picked
}

/** The subset asked for by --ops, --families, --dtypes, --modes, --backends, --devices and --hosts; undefined where all is. */
export function readFilter(options: Pick<CompareOptions, 'ops' | 'families' | 'dtypes' | 'modes' | 'backends' | 'devices' | 'hosts'>): CaseFilter | undefined {
  const texts = { family: options.families, op: options.ops, dtype: options.dtypes, mode: options.modes, backend: options.backends, device: options.devices, host: options.hosts }
  const given = FILTER_KEYS.flatMap((key) => (texts[key] === undefined ? [] : [[key, words(`${key} to compare`, texts[key])] as const]))
  return given.length > 0 ? Object.fromEntries(given) : undefined
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === false
/** `results.json`, `./a`: what nobody calls a session, so that a missing file is told as one. */
const looksLikePath = (text: string) => /[/\\]|\.(json|csv|txt)$/i.test(text)

/**
 * Ids of what a user names: a stored session, or a file in any format that can be read, which is held in `files` and not
 * imported; `warn` gets what of it contradicted itself. A session of that very id or name goes before a file. Throws UsageError.
 */
export function findSide(wanted: string, sessions: readonly SessionSummary[], files: FileSides, warn: (text: string) => void): string {
  const exact = sessions.some(({ id, name }) => id === wanted || name === wanted)
  if (!exact && isFile(wanted)) return files.add(...readSide(wanted, warn)).id
  if (!exact && looksLikePath(wanted)) throw new UsageError(`there is no file "${wanted}", nor a session of that name`)
  const { id, about } = findSession(wanted, sessions)
  // What was measured interleaved is part of the comparison inside the session it adds to.
  return (about?.kind === 'interleaved' ? about.session : undefined) ?? id
}

function readSide(path: string, warn: (text: string) => void): Parameters<FileSides['add']> {
  const name = basename(path)
  try {
    const outcome = importSession(name, readText(path))
    if (outcome.ok) {
      for (const warning of outcome.warnings ?? []) warn(oneLine(warning))
      return [name, outcome.file]
    }
    throw new UsageError(oneLine(outcome.message))
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
