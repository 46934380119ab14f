import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { withLock } from './lock.mjs'

let folder: string
let lock: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opscope-lock-'))
  lock = join(folder, 'lock')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a program that has `withLock`, until it ends. */
function runs(body: string): Promise<unknown> {
  const program = `
    import { appendFileSync, closeSync, openSync, rmSync } from 'node:fs'
    import { setImmediate as nextTurn } from 'node:timers/promises'
    import { withLock } from ${JSON.stringify(new URL('./lock.mjs', import.meta.url).href)}
    process.chdir(${JSON.stringify(folder)})
    /** Notes an entry, and an overlap where another is inside. */
    async function inside(name) {
      appendFileSync('entries', '.')
      try { closeSync(openSync(name, 'wx')) } catch { appendFileSync('overlaps', '!') }
      for (let turns = 0; turns < 20; turns++) await nextTurn()
      rmSync(name, { force: true })
    }
    ${body}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore' })
  return new Promise((resolve) => child.once('exit', resolve))
}

it('lets one in at a time', async () => {
  const order: string[] = []
  let letGo = () => {}
  const held = new Promise<void>((resolve) => (letGo = resolve))
  const first = withLock(lock, async () => {
    order.push('first in')
    await held
    order.push('first out')
  })
  const second = withLock(lock, () => Promise.resolve(order.push('second in')))
  await withLock(join(folder, 'another'), () => Promise.resolve(order.push('another lock')))
  letGo()
  await Promise.all([first, second])
  expect(order).toEqual(['first in', 'another lock', 'first out', 'second in'])
})

it('lets one in at a time while owners are killed and others wait for each of them', async () => {
  await Promise.all(Array.from({ length: 8 }, () => runs(`for (let i = 1; i <= 6; i++) await withLock('lock', async () => {
    await inside('inside')
    if (i === 6) process.kill(process.pid, 'SIGKILL')
  })`)))
  expect(readFileSync(join(folder, 'entries'), 'utf8')).toHaveLength(8 * 6)
  expect(existsSync(join(folder, 'overlaps'))).toBe(false)
})

it('lets one in at a time where several find at the same moment that an owner has died', async () => {
  const [rounds, contenders] = [300, 4]
  for (let i = 0; i < rounds; i++) writeFileSync(join(folder, `lock-${i}`), '999999999')
  const start = Date.now() + 1000
  await Promise.all(Array.from({ length: contenders }, () => runs(`for (let i = 0; i < ${rounds}; i++) {
    while (Date.now() < ${start} + 5 * i);
    await withLock('lock-' + i, () => inside('inside-' + i))
  }`)))
  expect(readFileSync(join(folder, 'entries'), 'utf8')).toHaveLength(rounds * contenders)
  expect(existsSync(join(folder, 'overlaps'))).toBe(false)
})

it('gives up the lock after a failure, and leaves nothing behind that a later one must judge', async () => {
  writeFileSync(lock, 'of a version that kept its lock in this file')
  await expect(withLock(lock, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await withLock(lock, () => Promise.resolve('in'))).toBe('in')
  expect(readdirSync(folder)).toEqual(['lock'])
})
