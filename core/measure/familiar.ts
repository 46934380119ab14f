import type { Verification } from '../result'
import type { MeasureSettings } from './settings'
import { Tempo } from './tempo'
import type { WarmPace } from './warm-up'

/**
 * What measurements of one open case have shown. A case that stays open for many short ones, the blocks of a comparison,
 * is verified with other inputs and paced once. Every later block marks its output as unwritten and checks it against
 * the reference, as the first does after timing; its inputs lie there already.
 */
export class Familiar {
  /** How long requests for its samples take. */
  readonly tempo = new Tempo()
  #known: { settings: MeasureSettings; verification: Verification; pace: WarmPace } | undefined

  /** What is known for measurements by these settings; undefined before the first right one. */
  for({ seed, verifyWork, minSeconds, rule }: MeasureSettings): { verification: Verification; pace: WarmPace } | undefined {
    const known = this.#known
    const same = known && known.settings.seed === seed && known.settings.verifyWork === verifyWork && known.settings.minSeconds === minSeconds && JSON.stringify(known.settings.rule) === JSON.stringify(rule)
    return same ? known : undefined
  }

  learn(settings: MeasureSettings, verification: Verification, pace: WarmPace): void {
    this.#known = { settings, verification, pace }
  }
}
