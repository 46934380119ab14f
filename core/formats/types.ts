import type { Ceiling, SessionFile } from '../session/types'

/** What an export may use beyond the session itself. */
export interface ExportContext {
  /** Measured limits of the devices, for efficiencies. */
  ceilings: readonly Ceiling[]
}

/** A file was read as a session, or what is wrong with it: the place and what was expected. */
export type ImportOutcome = { ok: true; file: SessionFile } | { ok: false; message: string }

/** One file format; a folder core/formats/<id>/ whose format.ts exports it as default. */
export interface FileFormat {
  id: string
  title: string
  /** Without the dot. */
  extension: string
  /** The whole file as text, ending in a newline. Throws when the session itself is not valid. */
  exportSession?(file: SessionFile, context: ExportContext): string
  /** `null` when the text is not in this format at all. Never throws. */
  importSession?(text: string): ImportOutcome | null
}
