import { EventEmitter } from 'node:events'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type * as SystemLock from './system-lock.mjs'

/** What macOS and Windows are asked for; that their locks hold is theirs to keep. scripts/lib/lock.test.ts tries the lock of this system. */
let folder: string
let file: string
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'opscope-system-lock-'))
  file = join(folder, 'lock')
})
afterEach(() => {
  vi.unstubAllGlobals()
  for (const name of ['node:fs', 'node:timers/promises']) vi.doUnmock(name)
  vi.doUnmock('node:net')
  vi.resetModules()
  fs.rmSync(folder, { recursive: true, force: true })
})

async function on(platform: NodeJS.Platform): Promise<typeof SystemLock> {
  vi.resetModules()
  vi.stubGlobal('process', Object.create(process, { platform: { value: platform } }))
  return import('./system-lock.mjs')
}
const systemError = (code: string) => Object.assign(new Error(code), { code })

describe('on macOS and the BSDs', () => {
  const openSync = vi.fn()
  const closeSync = vi.fn()
  const setTimeout = vi.fn()
  beforeEach(() => {
    for (const mock of [openSync, closeSync, setTimeout]) mock.mockReset()
    vi.doMock('node:fs', () => ({ ...fs, openSync, closeSync }))
    vi.doMock('node:timers/promises', () => ({ setTimeout }))
  })

  it('opens the file itself with an exclusive lock that does not block, and gives it up by closing it', async () => {
    openSync.mockReturnValue(7)
    const release = await (await on('darwin')).takeLock(file)
    // O_EXLOCK of <fcntl.h> there.
    expect(openSync.mock.calls).toEqual([[file, fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_NONBLOCK | 0x20, 0o600]])
    expect(closeSync).not.toHaveBeenCalled()
    await release()
    expect(closeSync.mock.calls).toEqual([[7]])
  })

  it.each(['EAGAIN', 'EWOULDBLOCK'])('asks again, five times a second, while another process has it: %s', async (code) => {
    const { takeLock } = await on('darwin')
    openSync.mockImplementationOnce(() => { throw systemError(code) }).mockReturnValue(8)
    const waits: string[] = []
    await (await takeLock(file, (who) => waits.push(who)))()
    expect([openSync.mock.calls.length, waits, setTimeout.mock.calls, closeSync.mock.calls]).toEqual([2, [''], [[200]], [[8]]])
  })

  it('fails where the file cannot be opened at all', async () => {
    openSync.mockImplementation(() => { throw systemError('EACCES') })
    await expect((await on('darwin')).takeLock(file)).rejects.toThrow('EACCES')
    expect(openSync).toHaveBeenCalledTimes(1)
  })
})

describe('on Windows', () => {
  /** Names that are asked for, and how each question is answered: bound, or an error. */
  let listened: string[]
  let answers: (string | undefined)[]
  let connected: string[]
  let closed: number
  beforeEach(() => {
    listened = []
    connected = []
    answers = []
    closed = 0
    class Server extends EventEmitter {
      listen(name: string, done: () => void) {
        listened.push(name)
        const error = answers.shift()
        queueMicrotask(() => (error === undefined ? done() : this.emit('error', systemError(error))))
      }
      close(done: () => void) {
        closed++
        done()
      }
    }
    class Socket extends EventEmitter {
      setEncoding = () => this
      destroy = () => this.emit('close')
    }
    const connect = (name: string) => {
      connected.push(name)
      const socket = new Socket()
      queueMicrotask(() => {
        socket.emit('data', '4711')
        socket.emit('close')
      })
      return socket
    }
    vi.doMock('node:net', () => ({ createServer: () => new Server(), connect }))
  })

  it('binds a named pipe of the file, the same however the path is written, and closes it to give it up', async () => {
    const { takeLock } = await on('win32')
    const release = await takeLock(file)
    await takeLock(join(folder, '..', folder.split('/').at(-1)!, 'lock'))
    await takeLock(join(folder, 'other'))
    expect(listened[0]).toMatch(/^\\\\\.\\pipe\\opscope-[0-9a-f]{32}$/)
    expect([listened[1] === listened[0], listened[2] === listened[0]]).toEqual([true, false])
    expect(closed).toBe(0)
    await release()
    expect(closed).toBe(1)
  })

  it.each(['EADDRINUSE', 'EACCES'])('waits at the pipe for its owner to end, says which process that is, and binds it then: %s', async (code) => {
    answers = [code, undefined]
    const waits: string[] = []
    await (await on('win32')).takeLock(file, (who) => waits.push(who))
    expect(waits).toEqual([' (process 4711)'])
    expect(listened).toEqual([listened[0], listened[0]])
    expect(connected).toEqual([listened[0]])
  })

  it('fails where no pipe can be made at all', async () => {
    answers = ['EPERM']
    await expect((await on('win32')).takeLock(file)).rejects.toThrow('EPERM')
    expect(connected).toEqual([])
  })
})
