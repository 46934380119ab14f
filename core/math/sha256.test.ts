import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { sha256 } from './sha256'

it('agrees with the library for every length around a block', () => {
  for (let length = 0; length < 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 37 + length) & 255)
    expect(Buffer.from(sha256(bytes)).toString('hex')).toBe(createHash('sha256').update(bytes).digest('hex'))
  }
})
