import { existsSync, readFileSync } from 'node:fs'
import { MAX_CHECKS, NO_BASELINES, baselinesSchema, type BaselineCheck, type Baselines, type Pin } from '@core/compare/pinned'
import { writeFileAtomic } from '../write-file'

/** Pinned baselines and what later sessions came to against them, in a file of the data folder, which app and command line both read anew each time. */
export class BaselineStore {
  constructor(private readonly file: string) {}

  /** A file that cannot be read counts as empty. */
  read(): Baselines {
    if (!existsSync(this.file)) return NO_BASELINES
    try {
      return baselinesSchema.parse(JSON.parse(readFileSync(this.file, 'utf8')))
    } catch {
      return NO_BASELINES
    }
  }

  setPins(pins: readonly Pin[]): Baselines {
    return this.#write({ ...this.read(), pins: [...pins] })
  }

  /** One check for each session, newest first. */
  addCheck(check: BaselineCheck): Baselines {
    const { pins, checks } = this.read()
    return this.#write({ pins, checks: [check, ...checks.filter(({ sessionId }) => sessionId !== check.sessionId)].slice(0, MAX_CHECKS) })
  }

  #write(next: Baselines): Baselines {
    writeFileAtomic(this.file, [JSON.stringify(next, undefined, 1)])
    return next
  }
}
