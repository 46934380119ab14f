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
