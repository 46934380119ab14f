import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { MAX_BYTES } from '@core/formats/registry'

const TOO_LARGE = `larger than ${MAX_BYTES / 2 ** 20} MiB, the most that is read`
const CHUNK = 2 ** 20

/**
 * The text of a file, by its path or its bytes. Throws for what is no regular file, which may have no end (a device, a
 * pipe), and for one with more bytes than are read: those are counted while reading, since a size may be wrong.
 */
export function readText(from: string | Uint8Array): string {
  const bytes = typeof from === 'string' ? readBytes(from) : from
  if (bytes.byteLength > MAX_BYTES) throw new Error(TOO_LARGE)
  return new TextDecoder().decode(bytes)
}

function readBytes(path: string): Uint8Array {
  // Without O_NONBLOCK, opening a pipe waits for somebody who writes to it.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw new Error(stat.isDirectory() ? 'it is a folder' : 'it is not a regular file')
    if (stat.size > MAX_BYTES) throw new Error(TOO_LARGE)
    const chunks: Uint8Array[] = []
    for (let total = 0; ; ) {
      const chunk = new Uint8Array(Math.min(MAX_BYTES + 1, chunks.length === 0 ? stat.size + 1 : CHUNK))
      const read = readSync(file, chunk)
      if (read === 0) return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, total)
      chunks.push(chunk.subarray(0, read))
      total += read
      if (total > MAX_BYTES) throw new Error(TOO_LARGE)
    }
  } finally {
    closeSync(file)
  }
}
