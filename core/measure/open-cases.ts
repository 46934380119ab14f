import { CaseError, type PreparedCase } from '../backend'
import { CaseWarmState } from './sampling/warm-up'

/** Cases left open at most, the one being measured included: the two sides of an interleaved comparison. */
const MAX_OPEN_CASES = 2

/** A case that opens within this time is opened anew for each pass of rounds, on other pages: where its tensors lie is then part of the noise. */
const REOPEN_MS = 10
/** The same of a case that holds a process while it is open, so that another one starts its own: after its first block, whose opening may have started the process. */
const REOPEN_PROCESS_MS = 1000
/** Bytes of cases that take longer to open, and are left open between the blocks of their rounds. */
const MAX_OPEN_BYTES = 2 ** 30
/** Cases whose rounds may be in progress at once. */
const MAX_KNOWN = 1000

/** A case taken for a measurement. */
export interface OpenCase {
  prepared: PreparedCase
  /** Goes with the case for as long as it is open. */
  warmState: CaseWarmState
  /** False where it was measured before and holds the inputs of that time. */
  fresh: boolean
  /** What opening it took; only of blocks. */
  openMs?: number
}

/**
 * Cases that a host leaves open between requests, so that blocks measured interleaved need no new set-up. They give way,
 * the one unused longest first: to a third case, to one that finds no memory beside them, and to any that is measured
 * for itself and should find the device as it would alone.
 */
export class OpenCases {
  /** By case identity, the one used last at the end. */
  readonly #kept = new Map<string, Pick<OpenCase, 'prepared' | 'warmState'>>()
  /** What blocks have shown of cases whose rounds are in progress, by case identity. */
  readonly #known = new Map<string, CaseWarmState>()

  /** The open case of this identity, which is the caller's until given back, or a new one from `open`. */
  async take(id: string, keep: boolean, open: () => Promise<PreparedCase>): Promise<OpenCase> {
    const known = keep ? this.#kept.get(id) : undefined
    if (known) {
      this.#kept.delete(id)
      return { ...known, fresh: false }
    }
    await this.shrink(keep ? MAX_OPEN_CASES - 1 : 0)
    try {
      return opened(await open())
    } catch (error) {
      if (!(error instanceof CaseError && error.code === 'out-of-memory') || this.#kept.size === 0) throw error
    }
    await this.shrink(0)
    return opened(await open())
  }

  /** Whether earlier blocks of this case, by settings such as these, have shown what warm-up and first check would. */
  knows(id: string, settings: Parameters<CaseWarmState['for']>[0]): boolean {
    return this.#known.get(id)?.for(settings) !== undefined
  }

  /** The case of this identity for one block of its rounds. `anew`: not the one that was left open, because it is to lie on the memory of another that was not. */
  async takeBlock(id: string, now: () => number, open: () => Promise<PreparedCase>, anew = false): Promise<OpenCase> {
    const warmState = this.#known.get(id) ?? new CaseWarmState()
    const kept = this.#kept.get(id)
    this.#kept.delete(id)
    if (kept && !anew) return { ...kept, fresh: false, openMs: Infinity }
    if (kept) await close(kept.prepared)
    const from = now()
    const opening = async () => ({ prepared: await open(), warmState, fresh: true, openMs: now() - from })
    try {
      return await opening()
    } catch (error) {
      if (!(error instanceof CaseError && error.code === 'out-of-memory') || this.#kept.size === 0) throw error
    }
    await this.shrink(0)
    return opening()
  }

  /** Takes a case back after a block. What it has shown is kept, and the case itself where opening it takes long; nothing of one that is not `well`. `holdsProcess`: while it is open, other cases need a process of their own. */
  async giveBlockBack(id: string, { prepared, warmState, openMs = 0 }: OpenCase, well: boolean, holdsProcess = false): Promise<void> {
    await this.#giveBack(id, prepared, warmState, well, holdsProcess ? !this.#known.has(id) || openMs < REOPEN_PROCESS_MS : openMs < REOPEN_MS)
  }

  /**
   * Takes the cases of a pass of rounds back, all of them or none to be opened anew: those that lie on the memory of the first must not stay there while it moves. Their
   * mean decides, because on a busy host a single opening may take long by chance.
   */
  async givePassBack(blocks: readonly (OpenCase & { identity: string })[], well: boolean): Promise<void> {
    const reopens = blocks.reduce((sum, { openMs = 0 }) => sum + openMs, 0) < REOPEN_MS * blocks.length
    for (const { identity, prepared, warmState } of blocks) await this.#giveBack(identity, prepared, warmState, well, reopens)
  }

  async #giveBack(id: string, prepared: PreparedCase, warmState: CaseWarmState, well: boolean, reopens: boolean): Promise<void> {
    this.#known.delete(id)
    if (well) this.#known.set(id, warmState)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN) break
      this.#known.delete(oldest)
    }
    if (!well || reopens || this.#kept.has(id)) return close(prepared)
    this.#kept.set(id, { prepared, warmState })
    const bytes = () => [...this.#kept.values()].reduce((sum, kept) => sum + kept.prepared.memory().caseBytes, 0)
    while (this.#kept.size > 0 && bytes() > MAX_OPEN_BYTES) await this.shrink(this.#kept.size - 1)
  }

  /** Takes a case back after its measurement; one that is not to be kept is closed. */
  async giveBack(id: string, { prepared, warmState }: OpenCase, keep: boolean): Promise<void> {
    if (keep) this.#kept.set(id, { prepared, warmState })
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

const opened = (prepared: PreparedCase): OpenCase => ({ prepared, warmState: new CaseWarmState(), fresh: true })

/** A device that was lost may refuse this too; the case's own ending is what counts. */
const close = (prepared: PreparedCase) => prepared.dispose().catch(() => undefined)
