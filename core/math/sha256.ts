/** Round constants and initial state: the first 32 bits of the fractional parts of cube and square roots of primes (FIPS 180-4, 4.2.2 and 5.3.3). */
const PRIMES = Array.from({ length: 312 }, (_, i) => i).filter((n) => n > 1 && Array.from({ length: Math.floor(Math.sqrt(n)) - 1 }, (_, d) => d + 2).every((d) => n % d !== 0))
const fraction = (x: number) => Math.floor((x - Math.floor(x)) * 2 ** 32) >>> 0
const ROUNDS = Uint32Array.from(PRIMES.slice(0, 64), (p) => fraction(Math.cbrt(p)))
const INITIAL = PRIMES.slice(0, 8).map((p) => fraction(Math.sqrt(p)))

const rotate = (x: number, by: number) => (x >>> by) | (x << (32 - by))

/** SHA-256 of some bytes (FIPS 180-4), for places that have no crypto of their own and cannot wait for a promise. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const blocks = Math.ceil((bytes.length + 9) / 64)
  const padded = new Uint8Array(blocks * 64)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n)
  const state = Uint32Array.from(INITIAL)
  const w = new Uint32Array(64)
  for (let block = 0; block < blocks; block++) {
    for (let t = 0; t < 16; t++) w[t] = view.getUint32(block * 64 + t * 4)
    for (let t = 16; t < 64; t++) {
      const [a, b] = [w[t - 15]!, w[t - 2]!]
      w[t] = w[t - 16]! + (rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3)) + w[t - 7]! + (rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10))
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number]
    for (let t = 0; t < 64; t++) {
      const one = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[t]! + w[t]!) | 0
      const two = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
      ;[a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g]
    }
    ;[a, b, c, d, e, f, g, h].forEach((value, i) => (state[i] = state[i]! + value))
  }
  const digest = new DataView(new ArrayBuffer(32))
  state.forEach((word, i) => digest.setUint32(i * 4, word))
  return new Uint8Array(digest.buffer)
}
