import { createHash } from 'node:crypto'
import { closeSync, constants, mkdirSync, openSync, realpathSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { say } from './steps.mjs'

/** open(2) of macOS and the BSDs takes the lock of flock(2) with this flag; Node has no name for it. */
const O_EXLOCK = 0x20
const isBusy = (error) => error.code === 'EADDRINUSE' || error.code === 'EACCES'

/**
 * Locks are the system's own, so the system gives up the lock of a process that dies, and no file can be left behind.
 * No package is used: the lock is taken before npm has installed any.
 * Linux: an abstract socket, Windows: a named pipe. A name can be bound once, and who waits is connected to the owner.
 * Elsewhere: flock(2).
 */
const socketName = (file) => {
  const hash = createHash('sha256').update(join(realpathSync(dirname(file)), basename(file))).digest('hex').slice(0, 32)
  return process.platform === 'win32' ? `\\\\.\\pipe\\opscope-${hash}` : `\0opscope-${hash}`
}

/** Binds `name`: what gives it up again, or undefined while another process has it. */
function bind(name) {
  return new Promise((done, fail) => {
    const waiting = new Set()
    const server = createServer((socket) => {
      waiting.add(socket)
      // A waiter that is ended takes its connection with it.
      socket.on('error', () => undefined).on('close', () => waiting.delete(socket))
      socket.write(String(process.pid))
    })
    server.on('error', (error) => (isBusy(error) ? done(undefined) : fail(error)))
    server.listen(name, () =>
      done(async () => {
        const closed = new Promise((resolve) => server.close(resolve))
        for (const socket of waiting) socket.destroy()
        await closed
      }),
    )
  })
}

/** Resolves when the process that has `name` gives it up or ends; `onOwner` gets its id. */
const untilFree = (name, onOwner) =>
  new Promise((resolve) => {
    connect(name)
      .setEncoding('utf8')
      .on('data', onOwner)
      .on('error', () => undefined)
      .on('close', resolve)
  })

async function takeSocket(file, onWait) {
  const name = socketName(file)
  for (;;) {
    const release = await bind(name)
    if (release) return release
    await untilFree(name, (pid) => onWait(` (process ${pid})`))
  }
}

async function takeFlock(file, onWait) {
  for (;;) {
    try {
      const handle = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK | O_EXLOCK, 0o600)
      return () => closeSync(handle)
    } catch (error) {
      if (error.code !== 'EAGAIN' && error.code !== 'EWOULDBLOCK') throw error
      onWait('')
      await sleep(200)
    }
  }
}

/** Runs `work` while no other process is inside a `withLock` of `file`, whose folder is made when missing. */
export async function withLock(file, work) {
  mkdirSync(dirname(file), { recursive: true })
  let told = false
  const onWait = (who) => {
    if (!told) say(`waiting for another Opscope set-up${who} …`)
    told = true
  }
  const take = process.platform === 'linux' || process.platform === 'win32' ? takeSocket : takeFlock
  const release = await take(file, onWait)
  try {
    return await work()
  } finally {
    await release()
  }
}
