import { basename, resolve } from 'node:path'
import { usualRedactions } from '@core/formats/redact'
import { exportFormat, exportStream, FORMATS, importSession as parseSession, prepareExport } from '@core/formats/registry'
import { associate, associationCommand, dissociate } from '../../app/association'
import { readText } from '../../import/read-text'
import { thisUser } from '../../paths'
import { oneLine } from '../../printable'
import { writeFileAtomic } from '../../write-file'
import { pickOne, readRedact, findSession, UsageError } from '../options/choices'
import type { Context } from '../context'

const writable = () => FORMATS.filter((format) => format.exportSession)

/** The format that was asked for, else the one the file's extension means; JSON for stdout. Throws a UsageError for an extension of no format. */
export function formatFor(asked: string | undefined, out: string): string {
  if (asked !== undefined) return pickOne('format', asked, writable().map((format) => format.id))
  if (out === '-') return 'json'
  const fitting = writable().filter((format) => out.toLowerCase().endsWith(`.${format.extension}`))
  if (fitting.length === 0) throw new UsageError(`--out ${out}: no format has this extension; expected ${[...new Set(writable().map(({ extension }) => `.${extension}`))].sort().join(', ')}, or --format with one of ${writable().map(({ id }) => id).join(', ')}`)
  // Several formats share an extension; the one that is called like it is meant.
  return (fitting.find((format) => format.id === format.extension) ?? fitting[0]!).id
}

/** `opscope export`: a session as a file, or to stdout for `-`. */
export async function exportSession(context: Context, wanted: string, options: { format?: string; out?: string; redact?: string }): Promise<number> {
  const out = options.out ?? '-'
  const format = formatFor(options.format, out)
  const { id, name } = findSession(wanted, context.sessions())
  const leaveOut = options.redact === undefined ? usualRedactions(exportFormat(format)) : readRedact(options.redact)
  await prepareExport(format)
  const parts = exportStream(format, context.history.streamSession(id), { ceilings: context.history.ceilings(), leaveOut, hints: thisUser() })
  if (out === '-') for (const part of parts) context.output(part)
  else {
    writeFileAtomic(resolve(out), parts)
    context.remark(`Wrote "${oneLine(name)}" to ${resolve(out)}`)
  }
  return 0
}

function readFile(path: string): string {
  try {
    return readText(path)
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** `opscope import`: sessions, and results of other tools, into the history. Each file is taken whole or not at all. */
export function importFiles(context: Context, paths: readonly string[], options: { json?: boolean }): number {
  let status = 0
  const imported = []
  const measured = context.sessions().find(({ state }) => state === 'running')
  if (measured) context.remark(`opscope: "${oneLine(measured.name)}" is being measured; reading files may disturb its measurements`)
  for (const path of paths) {
    const outcome = parseSession(basename(path), readFile(path))
    if (outcome.ok) {
      const summary = context.history.importSession(outcome.file)
      for (const warning of outcome.warnings ?? []) context.remark(`opscope: ${oneLine(warning)}`)
      imported.push(summary)
      if (!options.json) context.print(`Imported "${oneLine(summary.name)}": ${summary.results} results (session ${summary.id})${summary.alreadyHere ? '; the history already had it, so there are two now' : ''}`)
    } else {
      status = 1
      context.remark(`opscope: ${oneLine(outcome.message)}; nothing of it was imported`)
    }
  }
  if (options.json) context.printJson(imported)
  return status
}

/** `opscope associate`: has the desktop open session files with this copy of the app, or no longer. */
export function associateFiles(context: Context, options: { remove?: boolean; json?: boolean }): number {
  const place = associationCommand(false, context.io.env)
  const state = options.remove ? dissociate(place) : associate(place)
  if (options.json) context.printJson(state)
  else {
    context.print(options.remove ? 'Files that end in .opscope.json no longer open with Opscope.' : `Files that end in .opscope.json open with Opscope: ${place.command.join(' ')}`)
    for (const note of state.notes) context.remark(`opscope: ${note}`)
  }
  return 0
}
