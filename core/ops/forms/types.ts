/** One extent of a size: `m`, `rows`, `channels`. */
export interface ExtentSpec {
  /** The parameter it fills, and its long form when written (`kernelHeight=3`). */
  name: string
  /** `Rows`, for editors and tables. */
  title: string
  /** Smallest value; 1 where absent (padding may be 0). */
  min?: number
  /**
   * Value where it is not written. A number: left out of a case's identity when equal. A function of the extents known so
   * far: always written into the case. Absent: the extent must be written.
   */
  default?: number | ((known: Readonly<Record<string, number>>) => number)
}

/** How sizes of a group of ops are written: the editor, the command line, importers and charts read it from here. */
export interface SizeForm {
  /** `vector`, `matrix`, `gemm`, ...: the key of the text in a sweep. */
  id: string
  /** `Vectors (elements)`, for editors. */
  title: string
  extents: readonly ExtentSpec[]
  /** Short names and the extents each sets: `hw` -> [height, width]. An extent's own name always works. */
  short: Readonly<Record<string, readonly string[]>>
  /** How many of the first extents may be written joined by x (`4096x1024`); one number alone stands for all of them. 0: by name only. */
  positional: number
  /** A text that shows the form, for hints and messages. */
  example: string
  /** The extent that grows along the scaling chart, where there is one: rows, m, batch. */
  batchExtent?: string
  /** Texts of the size presets (core/sweep/defaults.ts): preset id -> sizes. */
  presets: Readonly<Record<string, string>>
}
