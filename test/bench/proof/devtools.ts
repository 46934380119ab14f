import type { ChildProcess } from 'node:child_process'

/** A page or another target of a browser. */
export interface Target {
  type: string
  url: string
  webSocketDebuggerUrl: string
}

export const targetsOf = async (origin: string): Promise<Target[]> => (await (await fetch(`${origin}/json/list`)).json()) as Target[]

/** Where a browser that was started with --remote-debugging-port listens. Rejects with its last words where it ends first. */
export const debuggingOrigin = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    child.stderr!.on('data', (chunk) => {
      text = (text + String(chunk)).slice(-20_000)
      const found = /DevTools listening on ws:\/\/([^/]+)\//.exec(text)
      if (found) resolve(`http://${found[1]}`)
    })
    child.once('exit', () => reject(new Error(`the browser ended at its start: ${text}`)))
  })

interface Answer {
  id?: number
  method?: string
  params?: unknown
  result?: unknown
  error?: { message: string }
}

/** One connection of Chromium's debugging protocol. */
export interface Devtools {
  /** Rejects with the browser's words. */
  send<T>(method: string, params?: object): Promise<T>
  onEvent(method: string, listener: (params: unknown) => void): void
  close(): void
}

/** Connects to a target. */
export async function connect(address: string): Promise<Devtools> {
  if (!globalThis.WebSocket) throw new Error(`benches of the app need Node 22 or newer on this platform; this is ${process.version}`)
  const socket = new WebSocket(address)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', () => reject(new Error(`${address} cannot be reached`)))
  })
  const waiting = new Map<number, (answer: Answer) => void>()
  const listeners = new Map<string, (params: unknown) => void>()
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer)
    else if (answer.method !== undefined) listeners.get(answer.method)?.(answer.params)
  })
  let next = 1
  return {
    send: <T>(method: string, params: object = {}) =>
      new Promise<T>((resolve, reject) => {
        const id = next++
        waiting.set(id, ({ result, error }) => {
          waiting.delete(id)
          if (error) reject(new Error(`${method}: ${error.message}`))
          else resolve(result as T)
        })
        socket.send(JSON.stringify({ id, method, params }))
      }),
    onEvent: (method, listener) => void listeners.set(method, listener),
    close: () => socket.close(),
  }
}
