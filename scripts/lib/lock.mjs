import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { say } from './steps.mjs'
import { takeLock } from './system-lock.mjs'

/** Runs `work` while no other process is inside a `withLock` of `file`, whose folder is made when missing. */
export async function withLock(file, work) {
  mkdirSync(dirname(file), { recursive: true })
  let told = false
  const release = await takeLock(file, (who) => {
    if (!told) say(`waiting for another Opscope set-up${who} …`)
    told = true
  })
  try {
    return await work()
  } finally {
    await release()
  }
}
