/**
 * An asar archive of a few text files in one flat folder: a Chromium pickle (sizes as little-endian uint32) holding a
 * JSON index, then the contents. Format: https://github.com/electron/asar#format
 * @param {Record<string, string>} files name -> content
 * @returns {Buffer}
 */
export function packAsar(files) {
  const contents = Object.entries(files).map(([name, text]) => [name, Buffer.from(text)])
  let offset = 0
  const index = { files: {} }
  for (const [name, data] of contents) {
    index.files[name] = { size: data.length, offset: String(offset) }
    offset += data.length
  }
  const json = Buffer.from(JSON.stringify(index))
  const padded = Math.ceil(json.length / 4) * 4
  const head = Buffer.alloc(16 + padded)
  head.writeUInt32LE(4, 0)
  head.writeUInt32LE(padded + 8, 4)
  head.writeUInt32LE(padded + 4, 8)
  head.writeUInt32LE(json.length, 12)
  json.copy(head, 16)
  return Buffer.concat([head, ...contents.map(([, data]) => data)])
}
