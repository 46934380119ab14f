import type { Params } from '@core/case'
import { attributeChoices } from '@core/ops/testing'
import type { Op } from '@core/ops/types'
import { mix32 } from '@core/values/random'

/** `npm run conformance` checks every size, variant and thread count; `npm test` a few that are drawn. */
export const WHOLE = process.env['OPSCOPE_CONFORMANCE'] === 'all'

/** Seed of everything that is drawn. Printed by the tests; OPSCOPE_CONFORMANCE_SEED repeats a run. */
export const DRAW_SEED = Number(process.env['OPSCOPE_CONFORMANCE_SEED'] ?? Math.floor(Math.random() * 2 ** 32))
if (!Number.isInteger(DRAW_SEED) || DRAW_SEED < 0 || DRAW_SEED >= 2 ** 32) throw new Error(`OPSCOPE_CONFORMANCE_SEED: expected a whole number from 0 to ${2 ** 32 - 1}, received ${process.env['OPSCOPE_CONFORMANCE_SEED']}`)

/** Random numbers that depend on the seed and on `words` alone, whatever other tests run. */
export class Draw {
  #state = DRAW_SEED

  constructor(words: string) {
    for (const letter of words) this.#state = mix32((this.#state ^ letter.codePointAt(0)!) >>> 0)
  }

  /** 0 .. below - 1. */
  below(below: number): number {
    this.#state = mix32((this.#state + 0x9e3779b9) >>> 0)
    return Math.floor((this.#state / 2 ** 32) * below)
  }

  /** 1 .. most, small numbers as likely as large ones. */
  length(most: number): number {
    return Math.floor(Math.exp((this.below(2 ** 20) / 2 ** 20) * Math.log(most + 1)))
  }

  /** One of a list, which must not be empty. */
  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }
}

/** Extents of an op, drawn: elements of one tensor stay near 2^18 at most. */
function extentsOf(op: Op, draw: Draw): Params {
  if (op.size.id === 'vector') return { n: draw.length(300_000) }
  if (op.size.id === 'matrix') {
    const first = draw.length(40_000)
    const second = draw.length(Math.ceil(2 ** 18 / first))
    const [rows, cols] = draw.below(2) === 0 ? [first, second] : [second, first]
    return { rows, cols, tokens: rows, dim: cols }
  }
  const most = op.size.id === 'gemm' ? 200 : 12
  return Object.fromEntries(op.size.extents.filter(({ default: usual }) => usual === undefined).map(({ name }) => [name, draw.length(most)]))
}

/** Parameters of an odd shape with one variant of the op; none where ten drawn ones are refused. */
export function oddParams(op: Op, draw: Draw): Params | undefined {
  for (let attempt = 0; attempt < 10; attempt++) {
    const parsed = op.params.safeParse({ iterations: 37, ns: 37, ...draw.one(attributeChoices(op)), ...extentsOf(op, draw) })
    if (parsed.success) return parsed.data
  }
  return undefined
}
