import { randomUUID } from 'node:crypto'
import type { ComparedResult, FileSide } from '@core/compare'
import { blockOf, rowAt, type Row } from '@core/session/rows'
import type { Environment, SessionFile } from '@core/session/types'
import { NotFoundError } from '../history/types'

/** Bounds on what is held at a time; beyond either, the file that was opened first makes room. */
const MAX_FILES = 20
const MAX_SAMPLES = 50_000_000

interface Held {
  side: FileSide
  file: SessionFile
  samples: number
}

/**
 * Sessions from files that are compared without being imported: held in memory, stored nowhere, gone with the process.
 * Their ids start with `file-`, so that none is ever taken for a session of the history.
 */
export class FileSides {
  readonly #held = new Map<string, Held>()

  constructor(private readonly limits = { files: MAX_FILES, samples: MAX_SAMPLES }) {}

  add(fileName: string, file: SessionFile): FileSide {
    const id = `file-${randomUUID().slice(0, 13)}`
    const side: FileSide = { id, name: file.session.name, fileName, createdAt: file.session.createdAt, results: file.results.length }
    this.#held.set(id, { side, file, samples: file.results.reduce((sum, result) => sum + result.samplesNs.length, 0) })
    const samples = () => [...this.#held.values()].reduce((sum, held) => sum + held.samples, 0)
    // The newest stays whatever its size: it is what the user asked for.
    while (this.#held.size > 1 && (this.#held.size > this.limits.files || samples() > this.limits.samples)) this.#held.delete(this.#held.keys().next().value!)
    return side
  }

  forget(id: string): void {
    this.#held.delete(id)
  }

  static isFile(id: string): boolean {
    return id.startsWith('file-')
  }

  /** Throws NotFoundError for a file that is held no longer. */
  get(id: string): { side: FileSide; environment: Environment; rows: Row[] } {
    const { side, file } = this.#find(id)
    const block = blockOf(file.results, 0)
    // Results of a file may have the ids of results in the history, so here they are named by their place.
    return { side, environment: file.environment, rows: file.results.map((_, i) => ({ ...rowAt(block, i), id: `${id}/${i}` })) }
  }

  /** A result by the id that its row has here. */
  result(resultId: string): ComparedResult {
    const [id = '', place = ''] = resultId.split('/')
    const result = this.#find(id).file.results[Number(place)]
    if (!result) throw new NotFoundError(`${this.#find(id).side.fileName} has no result ${place}.`)
    return { ...result, id: resultId }
  }

  #find(id: string): Held {
    const held = this.#held.get(id)
    if (!held) throw new NotFoundError('The file is not open any more. Open it again to compare it.')
    return held
  }
}
