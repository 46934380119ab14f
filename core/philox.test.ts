import { expect, it } from 'vitest'
import { philox4x32 } from './philox'

// Known answers of the Random123 library (kat_vectors), philox4x32 with ten rounds.
it.each<[counter: [number, number, number, number], key: [number, number], out: number[]]>([
  [[0, 0, 0, 0], [0, 0], [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]],
  [[0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff], [0xffffffff, 0xffffffff], [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]],
  [[0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0], [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1]],
])('philox4x32 of %j with key %j', (counter, key, out) => expect(philox4x32(counter, key)).toEqual(out))
