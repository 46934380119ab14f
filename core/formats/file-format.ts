import type { SessionStream, Ceiling, SessionFile } from '../session/types'
import type { Redaction, RedactionHints } from './redact'
import { parseLooseJson } from './shared/json'

/** A file to be read as a session. Parsed at most once, however many formats look at it. */
export class ImportSource {
  /** Without a byte order mark. */
  readonly text: string
  #strict: { value: unknown } | undefined
  #loose: { value: unknown } | undefined

  /**
   * @param name the file's name without its folder
   * @param now ISO 8601 UTC; the time of a session whose file does not tell one
   */
  constructor(readonly name: string, text: string, readonly now: string = new Date().toISOString()) {
    this.text = text.startsWith('\ufeff') ? text.slice(1) : text
  }

  /** The text as JSON; undefined when it is not. */
  json(): unknown {
    this.#strict ??= { value: /^\s*[[{]/.test(this.text) ? strictJson(this.text) : undefined }
    return this.#strict.value
  }

  /** The same with bare NaN (reads as null) and ±Infinity, which C++ and Python programs write. */
  looseJson(): unknown {
    this.#loose ??= { value: this.json() ?? (/^\s*[[{]/.test(this.text) ? parseLooseJson(this.text) : undefined) }
    return this.#loose.value
  }
}

function strictJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

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
