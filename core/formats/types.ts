import type { SessionStream } from '../session/stream'
import type { Ceiling, SessionFile } from '../session/types'
import type { Redaction, RedactionHints } from './redact'
import type { ImportSource } from './file-format'

/** What an export may use beyond the session itself. */
export interface ExportContext {
  /** Measured limits of devices known here, for efficiencies; the session's own record goes before them. */
  ceilings: readonly Ceiling[]
  /** What is left out because it identifies the machine or a person; nothing where absent. */
  leaveOut?: ReadonlySet<Redaction>
  hints?: RedactionHints
}

/** A file was read as a session, with what of it contradicted itself and was computed again; or what is wrong with it: the place and what was expected. */
export type ImportOutcome = { ok: true; file: SessionFile; warnings?: string[] } | { ok: false; message: string }

/** One file format; a folder core/formats/<id>/ whose format.ts exports it as default. */
export interface FileFormat {
  id: string
  /** Short, as on a button or in a menu: `JSON`, `Google Benchmark`. */
  title: string
  /** One sentence for who has to choose: what is in the file and what it is for. */
  description: string
  /** Without the dot. */
  extension: string
  /** What the name of a new file ends in, where the extension alone would not say whose file it is: `opscope.json`. */
  suffix?: string
  /** True of what is written to be sent: unless asked otherwise, what identifies the machine or a person is left out. */
  forSharing?: true
  /** Loads what writing needs, where that is too large to be loaded with the list of formats. exportSession works once it is done. */
  prepareExport?(): Promise<void>
  /**
   * The whole file as text, ending in a newline; a generator gives it in parts, about one for each result, so that a large
   * file need not be one string. Throws when the session itself is not valid.
   */
  exportSession?(file: SessionFile, context: ExportContext): string | Generator<string, void>
  /** The same text from a session that memory need not hold, which `parts` goes through `readings` times; beside exportSession, where the format allows it. */
  exportStream?: { readings: number; parts(session: SessionStream, context: ExportContext): Generator<string, void> }
  /** `null` when the text is not in this format at all. Never throws. */
  importSession?(source: ImportSource): ImportOutcome | null
}

/** What the page and the command line list of a format. */
export type FormatInfo = Pick<FileFormat, 'id' | 'title' | 'description' | 'extension'> & { exportable: boolean; importable: boolean; forSharing: boolean }
