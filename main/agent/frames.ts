import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** Length of what follows, then whether it is compressed. */
const HEAD_BYTES = 5

/** Shorter messages are not worth compressing. */
const COMPRESS_FROM = 512

/** What arrived is no frame, or a larger one than is allowed; the line is then of no use. */
export class FrameError extends Error {
  override name = 'FrameError'
}

/** A message as one frame: `length u32le, 0 or 1, JSON`, the JSON as raw deflate where the byte is 1. */
export function frameOf(message: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(message))
  const compressed = json.length >= COMPRESS_FROM
  const body = compressed ? deflateRawSync(json, { level: 6 }) : json
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(body.length, 0)
  head.writeUInt8(compressed ? 1 : 0, 4)
  return Buffer.concat([head, body])
}

/** Messages out of a stream, however it is cut into chunks. Holds at most one message of `mostBytes`, compressed or not. */
export class FrameReader {
  #chunks: Buffer[] = []
  #held = 0
  #needed = HEAD_BYTES

  constructor(private readonly mostBytes: number) {}

  /** The messages that this chunk completes, unchecked. Throws FrameError; the stream is then lost. */
  push(chunk: Buffer): unknown[] {
    this.#chunks.push(chunk)
    this.#held += chunk.length
    const messages: unknown[] = []
    while (this.#held >= this.#needed) {
      const all = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
      const length = all.readUInt32LE(0)
      const kind = all.readUInt8(4)
      if (kind > 1) throw new FrameError(`something that is no frame: ${JSON.stringify(all.subarray(0, 40).toString('latin1'))}`)
      if (length > this.mostBytes) throw new FrameError(`a message of ${length} bytes; at most ${this.mostBytes} are allowed`)
      const end = HEAD_BYTES + length
      if (all.length >= end) {
        messages.push(this.#parse(all.subarray(HEAD_BYTES, end), kind === 1))
        this.#keep(all.subarray(end), HEAD_BYTES)
      } else this.#keep(all, end)
    }
    return messages
  }

  #keep(rest: Buffer, needed: number): void {
    this.#chunks = rest.length > 0 ? [rest] : []
    this.#held = rest.length
    this.#needed = needed
  }

  #parse(body: Buffer, compressed: boolean): unknown {
    try {
      const json = compressed ? inflateRawSync(body, { maxOutputLength: this.mostBytes }) : body
      return JSON.parse(json.toString('utf8'))
    } catch (error) {
      throw new FrameError(`a frame that cannot be read: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}
