import { readFileSync } from 'node:fs'
import { getOp } from '@core/ops/registry'
import type { Drawn } from './draw'

/** The cases that a file lists, their parameters completed and checked by their operation. */
export const readCases = (file: string): Drawn[] => (JSON.parse(readFileSync(file, 'utf8')) as Drawn[]).map((one) => ({ ...one, params: getOp(one.op).params.parse(one.params) }))

/** Which of many things are those of one process: for `K/N` every N-th from number K (0 to N - 1). All where no share is named. */
export function inShare(share = '0/1'): (one: unknown, place: number) => boolean {
  const [at, of] = share.split('/').map(Number) as [number, number?]
  if (!(of !== undefined && of >= 1 && at >= 0 && at < of)) throw new Error(`share: expected K/N with K from 0 to N - 1, received ${share}`)
  return (_one, place) => place % of === at
}
