/**
 * Philox 4x32-10 (Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3"): four random uint32 from
 * a counter of four words and a key of two. Ten rounds of
 *
 *   (c0, c1, c2, c3) = (hi(M1 c2) ^ c1 ^ k0,  lo(M1 c2),  hi(M0 c0) ^ c3 ^ k1,  lo(M0 c0))
 *
 * with M0 = 0xD2511F53 and M1 = 0xCD9E8D57; between rounds k0 += 0x9E3779B9 and k1 += 0xBB67AE85. All in uint32.
 */
export function philox4x32(counter: readonly [number, number, number, number], key: readonly [number, number]): [number, number, number, number] {
  let [c0, c1, c2, c3] = counter
  let [k0, k1] = key
  for (let round = 0; round < 10; round++) {
    const low0 = Math.imul(0xd2511f53, c0) >>> 0
    const low1 = Math.imul(0xcd9e8d57, c2) >>> 0
    const high0 = highProduct(0xd2511f53, c0)
    const high1 = highProduct(0xcd9e8d57, c2)
    ;[c0, c1, c2, c3] = [(high1 ^ c1 ^ k0) >>> 0, low1, (high0 ^ c3 ^ k1) >>> 0, low0]
    k0 = (k0 + 0x9e3779b9) >>> 0
    k1 = (k1 + 0xbb67ae85) >>> 0
  }
  return [c0, c1, c2, c3]
}

/** Upper 32 bits of the product of two uint32. */
function highProduct(a: number, b: number): number {
  const [aHigh, aLow, bHigh, bLow] = [a >>> 16, a & 0xffff, b >>> 16, b & 0xffff]
  const middle = aHigh * bLow + Math.floor((aLow * bLow) / 65536)
  const other = aLow * bHigh + (middle % 65536)
  return (aHigh * bHigh + Math.floor(middle / 65536) + Math.floor(other / 65536)) >>> 0
}
