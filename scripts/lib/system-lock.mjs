import { createHash } from 'node:crypto'
import { closeSync, constants, openSync, realpathSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

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

/** Resolves when the process that has `name` gives it up or ends, or `signal` aborts; `onOwner` gets its id. */
const untilFree = (name, onOwner, signal) =>
  new Promise((resolve) => {
    const socket = connect(name)
    const stop = () => socket.destroy()
    signal?.addEventListener('abort', stop)
    socket
      .setEncoding('utf8')
      .on('data', onOwner)
      .on('error', () => undefined)
      .on('close', () => {
        signal?.removeEventListener('abort', stop)
        resolve()
      })
  })

async function takeSocket(file, onWait, signal) {
  const name = socketName(file)
  for (;;) {
    signal?.throwIfAborted()
    const release = await bind(name)
    if (release) return release
    await untilFree(name, (pid) => onWait(` (process ${pid})`), signal)
  }
}

async function takeFlock(file, onWait, signal) {
  for (;;) {
    signal?.throwIfAborted()
    try {
      const handle = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK | O_EXLOCK, 0o600)
      return async () => closeSync(handle)
    } catch (error) {
      if (error.code !== 'EAGAIN' && error.code !== 'EWOULDBLOCK') throw error
      onWait('')
      await sleep(200)
    }
  }
}

/**
 * Waits until no other process (nor another call in this one) holds `file`, whose folder must exist, and holds it.
 * Returns what gives it up. `onWait` gets who has it, such as ` (process 12)`, or nothing where that is not known.
 * Rejects with the reason of `signal` when that aborts first.
 */
export const takeLock = (file, onWait = () => undefined, signal = undefined) => (process.platform === 'linux' || process.platform === 'win32' ? takeSocket : takeFlock)(file, onWait, signal)
