import { expect, it } from 'vitest'
import { createRandom } from '@core/stats/random'
import dropout from './kernel'

/** A WGSL function of u32 that only multiplies, adds and shifts, as a function of whole numbers. */
function evaluated(wgsl: string, name: string): (a: number) => bigint[] {
  const body = new RegExp(`fn ${name}\\(a: u32\\)[^{]*\\{([^}]*)\\}`).exec(wgsl)![1]!
  const text = body.replaceAll(/\b(0x[0-9a-f]+|\d+)u\b/g, '$1n').replaceAll(/let (\w+) = (.*);/g, 'const $1 = BigInt.asUintN(32, $2);').replaceAll(/vec2<u32>\((.*)\);/g, '[$1].map((word) => BigInt.asUintN(32, word));')
  const of = new Function('a', text) as (a: bigint) => bigint[]
  return (a) => of(BigInt(a))
}

it('multiplies by the factors of Philox without products of 64 bits', () => {
  const { wgsl } = dropout.build({ dtype: 'f32', dims: [2 ** 22], scalars: [0.5] }).steps[0]!
  const random = createRandom(7)
  const words = [0, 1, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffff0000, 0xffffffff, ...Array.from({ length: 20_000 }, () => Math.floor(2 ** 32 * random()))]
  const [zero, one] = [evaluated(wgsl, 'times_0'), evaluated(wgsl, 'times_1')]
  for (const a of words) {
    const [first, second] = [0xd2511f53n * BigInt(a), 0xcd9e8d57n * BigInt(a)]
    expect([...zero(a), ...one(a)], String(a)).toEqual([first >> 32n, 0xffffffffn - (first & 0xffffffffn), second >> 32n, second & 0xffffffffn])
  }
})
