import { readFileSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { usualRedactions } from '@core/formats/redact'
import { exportFormat, exportStream, FORMATS, importSession as parseSession, MAX_CHARACTERS } from '@core/formats/registry'
import { thisUser } from '../../app/this-user'
import { pickOne, readRedact } from '../choices'
import type { Context } from '../context'
import { findSession } from '../find-session'
import { writeFileAtomic } from '../../write-file'
import { UsageError } from '../usage-error'

const writable = () => FORMATS.filter((format) => format.exportSession)

/** The format that was asked for, else the one the file's extension means, else JSON. */
function formatFor(asked: string | undefined, out: string): string {
  if (asked !== undefined) return pickOne('format', asked, writable().map((format) => format.id))
  const fitting = writable().filter((format) => out.toLowerCase().endsWith(`.${format.extension}`))
  // Several formats share an extension; the one that is called like it is meant.
  return (fitting.find((format) => format.id === format.extension) ?? fitting[0])?.id ?? 'json'
}

/** `opscope export`: a session as a file, or to stdout for `-`. */
export function exportSession(context: Context, wanted: string, options: { format?: string; out?: string; redact?: string }): number {
  const out = options.out ?? '-'
  const format = formatFor(options.format, out)
  const { id, name } = findSession(wanted, context.sessions())
  const leaveOut = options.redact === undefined ? usualRedactions(exportFormat(format)) : readRedact(options.redact)
  const parts = exportStream(format, context.history.streamSession(id), { ceilings: context.history.ceilings(), leaveOut, hints: thisUser() })
  if (out === '-') for (const part of parts) context.io.out.write(part)
  else {
    writeFileAtomic(resolve(out), parts)
    context.remark(`Wrote "${name}" to ${resolve(out)}`)
  }
  return 0
}

function readFile(path: string): string {
  try {
    // Before reading: a file of this size is refused anyway, and reading it could exhaust memory.
    if (statSync(path).size > 4 * MAX_CHARACTERS) throw new Error(`the file is larger than ${(4 * MAX_CHARACTERS) / 2 ** 20} MiB`)
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** `opscope import`: sessions, and results of other tools, into the history. Each file is taken whole or not at all. */
export function importFiles(context: Context, paths: readonly string[], options: { json?: boolean }): number {
  let status = 0
  const imported = []
  for (const path of paths) {
    const outcome = parseSession(basename(path), readFile(path))
    if (outcome.ok) {
      const summary = context.history.importSession(outcome.file)
      imported.push(summary)
      if (!options.json) context.print(`Imported "${summary.name}": ${summary.results} results (session ${summary.id})`)
    } else {
      status = 1
      context.remark(`opscope: ${outcome.message}; nothing of it was imported`)
    }
  }
  if (options.json) context.printJson(imported)
  return status
}
