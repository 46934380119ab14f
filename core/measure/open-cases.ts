import { CaseError, type PreparedCase } from '../backend'
import { Familiar } from './familiar'

/** Cases left open at most, the one being measured included: the two sides of a comparison by turns. */
const MOST = 2

/** A case taken for a measurement. */
export interface OpenCase {
  prepared: PreparedCase
  /** Goes with the case for as long as it is open. */
  familiar: Familiar
  /** False where it was measured before and holds the inputs of that time. */
  fresh: boolean
}

/**
 * Cases that a host leaves open between requests, so that blocks measured by turns need no new set-up. They give way,
 * the one unused longest first: to a third case, to one that finds no memory beside them, and to any that is measured
 * for itself and should find the device as it would alone.
 */
export class OpenCases {
  /** By case identity, the one used last at the end. */
  readonly #kept = new Map<string, Omit<OpenCase, 'fresh'>>()

  /** The open case of this identity, which is the caller's until given back, or a new one from `open`. */
  async take(id: string, keep: boolean, open: () => Promise<PreparedCase>): Promise<OpenCase> {
    const known = keep ? this.#kept.get(id) : undefined
    if (known) {
      this.#kept.delete(id)
      return { ...known, fresh: false }
    }
    await this.shrink(keep ? MOST - 1 : 0)
    try {
      return opened(await open())
    } catch (error) {
      if (!(error instanceof CaseError && error.code === 'out-of-memory') || this.#kept.size === 0) throw error
    }
    await this.shrink(0)
    return opened(await open())
  }

  /** Takes a case back after its measurement; one that is not to be kept is closed. */
  async giveBack(id: string, { prepared, familiar }: OpenCase, keep: boolean): Promise<void> {
    if (keep) this.#kept.set(id, { prepared, familiar })
    else await close(prepared)
  }

  /** Closes kept cases until no more than `most` are left. */
  async shrink(most: number): Promise<void> {
    for (const [id, { prepared }] of this.#kept) {
      if (this.#kept.size <= most) return
      this.#kept.delete(id)
      await close(prepared)
    }
  }
}

const opened = (prepared: PreparedCase): OpenCase => ({ prepared, familiar: new Familiar(), fresh: true })

/** A device that was lost may refuse this too; the case's own ending is what counts. */
const close = (prepared: PreparedCase) => prepared.dispose().catch(() => undefined)
