import { expect, test } from 'vitest'
import { encodeFrame, FrameError, FrameReader, FRAME_MAGIC, MAX_HEADER_BYTES, MAX_PAYLOAD_BYTES } from './protocol'

const words = (...values: number[]) => Buffer.from(Uint32Array.from(values).buffer)

test('frames come out of a stream whole, wherever it is cut', () => {
  const stream = Buffer.concat([encodeFrame({ id: 1, text: 'größe' }, Buffer.from([1, 2, 3])), encodeFrame({ id: 2 }), encodeFrame([], Buffer.alloc(1000, 7))])
  for (const size of [1, 5, 11, 12, 13, 64, stream.length]) {
    const reader = new FrameReader()
    const frames = Array.from({ length: Math.ceil(stream.length / size) }, (_, i) => reader.push(stream.subarray(i * size, (i + 1) * size))).flat()
    expect(frames.map(({ header, payload }) => [header, payload.length, payload[0]])).toEqual([[{ id: 1, text: 'größe' }, 3, 1], [{ id: 2 }, 0, undefined], [[], 1000, 7]])
  }
})

test.each([
  ['a line of text', Buffer.from('Traceback (most recent call last)\n'), /no frame: it begins with "Traceback \(m"/],
  ['a header of 2 GB', words(FRAME_MAGIC, 2 ** 31, 0), /header of 2147483648 bytes; at most 1048576/],
  ['a payload of 2 GB', words(FRAME_MAGIC, 2, 2 ** 31), /payload of 2147483648 bytes; at most 67108864/],
  ['one byte too many', words(FRAME_MAGIC, MAX_HEADER_BYTES + 1, MAX_PAYLOAD_BYTES), /header/],
  ['half an object', Buffer.concat([words(FRAME_MAGIC, 7, 0), Buffer.from('{"id": ')]), /header is no JSON: "{\\"id\\": "/],
  ['a nameless error', Buffer.concat([words(FRAME_MAGIC, 3, 0), Buffer.from([0xff, 0xfe, 0xfd])]), /no JSON/],
])('%s is refused as soon as it can be told', (_what, bytes, message) => {
  expect(() => new FrameReader().push(bytes)).toThrow(FrameError)
  expect(() => new FrameReader().push(bytes)).toThrow(message)
})

test('frames before garbage are lost with it, and a prefix cut short waits', () => {
  const reader = new FrameReader()
  expect(reader.push(words(FRAME_MAGIC))).toEqual([])
  expect(() => reader.push(Buffer.concat([words(2, 0), Buffer.from('{}'), Buffer.from('garbage here')]))).toThrow(/garbage here/)
})

test('a header too large for the other side is not sent', () => {
  expect(() => encodeFrame({ text: 'x'.repeat(MAX_HEADER_BYTES) })).toThrow(FrameError)
})
