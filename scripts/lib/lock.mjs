import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { say } from './steps.mjs'

const alive = (pid) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** The process that holds the lock; undefined when it has just been given up. */
function ownerOf(file) {
  try {
    return Number(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

/** Runs `work` while no other set-up holds `file`; a lock whose owner is gone is taken over. */
export async function withLock(file, work) {
  mkdirSync(dirname(file), { recursive: true })
  let told = false
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' })
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      const owner = ownerOf(file)
      if (owner === undefined) continue
      if (owner > 0 && !alive(owner)) {
        rmSync(file, { force: true })
        continue
      }
      if (!told) say(`waiting for another Opscope set-up (process ${owner}) …`)
      told = true
      await sleep(200)
    }
  }
  try {
    return await work()
  } finally {
    rmSync(file, { force: true })
  }
}
