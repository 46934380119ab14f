import { FRAME_MAGIC, MOST_HEADER_BYTES, MOST_PAYLOAD_BYTES } from './protocol'

/** magic, header bytes, payload bytes. */
const PREFIX_BYTES = 12

export interface Frame {
  /** Parsed JSON, otherwise unchecked. */
  header: unknown
  payload: Buffer
}

/** What arrived is no frame; `message` says what it is instead. */
export class FrameError extends Error {
  override name = 'FrameError'
}

/** A frame of this header without payload; see protocol.ts for its layout. */
export function encodeFrame(header: unknown, payload: Uint8Array = new Uint8Array()): Buffer {
  const text = Buffer.from(JSON.stringify(header))
  if (text.length > MOST_HEADER_BYTES) throw new FrameError(`a header of ${text.length} bytes; at most ${MOST_HEADER_BYTES} are allowed`)
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32LE(FRAME_MAGIC, 0)
  prefix.writeUInt32LE(text.length, 4)
  prefix.writeUInt32LE(payload.length, 8)
  return Buffer.concat([prefix, text, payload])
}

/** Frames out of a stream, however it is cut into chunks. Holds no more than one frame of the allowed size. */
export class FrameReader {
  #chunks: Buffer[] = []
  #held = 0
  /** Bytes that must be there before the next look. */
  #needed = PREFIX_BYTES

  /** The frames that this chunk completes. Throws a FrameError at the first thing that is none; the stream is then lost. */
  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk)
    this.#held += chunk.length
    const frames: Frame[] = []
    while (this.#held >= this.#needed) {
      const held = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
      const { header, payload } = sizesOf(held)
      const end = PREFIX_BYTES + header + payload
      if (held.length >= end) {
        frames.push({ header: parse(held.subarray(PREFIX_BYTES, PREFIX_BYTES + header)), payload: held.subarray(PREFIX_BYTES + header, end) })
        this.#keep(held.subarray(end), PREFIX_BYTES)
      } else this.#keep(held, end)
    }
    return frames
  }

  #keep(rest: Buffer, needed: number): void {
    this.#chunks = rest.length > 0 ? [rest] : []
    this.#held = rest.length
    this.#needed = needed
  }
}

function sizesOf(prefix: Buffer): { header: number; payload: number } {
  const magic = prefix.readUInt32LE(0)
  if (magic !== FRAME_MAGIC) throw new FrameError(`something that is no frame: it begins with ${JSON.stringify(prefix.subarray(0, PREFIX_BYTES).toString('latin1'))}`)
  const header = prefix.readUInt32LE(4)
  const payload = prefix.readUInt32LE(8)
  if (header > MOST_HEADER_BYTES) throw new FrameError(`a frame with a header of ${header} bytes; at most ${MOST_HEADER_BYTES} are allowed`)
  if (payload > MOST_PAYLOAD_BYTES) throw new FrameError(`a frame with a payload of ${payload} bytes; at most ${MOST_PAYLOAD_BYTES} are allowed`)
  return { header, payload }
}

function parse(header: Buffer): unknown {
  const text = header.toString('utf8')
  try {
    return JSON.parse(text)
  } catch {
    throw new FrameError(`a frame whose header is no JSON: ${JSON.stringify(text.slice(0, 80))}`)
  }
}
