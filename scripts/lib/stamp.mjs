import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { ROOT } from './paths.mjs'

/** Files below these paths (files or folders, absolute), sorted; `skip(path)` leaves some out. */
export function filesBelow(paths, skip = () => false) {
  const found = []
  const visit = (path) => {
    if (skip(path)) return
    try {
      for (const entry of readdirSync(path, { withFileTypes: true })) {
        if (entry.isDirectory()) visit(join(path, entry.name))
        else if (!skip(join(path, entry.name))) found.push(join(path, entry.name))
      }
    } catch (error) {
      if (error.code === 'ENOTDIR') found.push(path)
      else if (error.code !== 'ENOENT') throw error
    }
  }
  paths.forEach(visit)
  return found.sort()
}

/** SHA-256 over names and contents of files, so that a touched but equal file rebuilds nothing. */
export function hashOf(files, salt = '') {
  const hash = createHash('sha256').update(salt)
  for (const file of files) hash.update(relative(ROOT, file)).update('\0').update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

/** Whether `stampFile` holds `hash`. */
export const isCurrent = (stampFile, hash) => existsSync(stampFile) && readFileSync(stampFile, 'utf8') === hash

/** Notes that what `stampFile` stands for was made from `hash`. */
export function writeStamp(stampFile, hash) {
  mkdirSync(dirname(stampFile), { recursive: true })
  writeFileSync(stampFile, hash)
}
