import { spawn } from 'node:child_process'

/** A display for a process that shows nothing. */
export interface Display {
  env: Record<string, string>
  /** Arguments Electron needs on it. */
  args: readonly string[]
  stop(): void
}

const START_MS = 20_000

/** The display that is there, else a virtual one of its own, else Chromium's headless platform. */
export async function findDisplay(env: NodeJS.ProcessEnv = process.env): Promise<Display> {
  const none = { env: {}, args: [], stop: () => undefined }
  if (process.platform !== 'linux' || env['DISPLAY'] || env['WAYLAND_DISPLAY']) return none
  try {
    return await startXvfb()
  } catch {
    return { ...none, args: ['--ozone-platform=headless'] }
  }
}

/** Xvfb picks a free number and tells it on fd 3; `-terminate` ends it with its last client, should we die first. */
function startXvfb(): Promise<Display> {
  return new Promise((resolve, reject) => {
    const child = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1280x720x24', '-nolisten', 'tcp', '-terminate'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'], detached: true })
    const late = setTimeout(() => {
      child.kill()
      reject(new Error('Xvfb did not start'))
    }, START_MS)
    const fail = (error: Error) => {
      clearTimeout(late)
      reject(error)
    }
    child.on('error', fail)
    child.on('exit', (code) => fail(new Error(`Xvfb ended with status ${code}`)))
    let text = ''
    child.stdio[3]?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (!text.includes('\n')) return
      clearTimeout(late)
      child.unref()
      resolve({ env: { DISPLAY: `:${text.trim()}` }, args: [], stop: () => void child.kill() })
    })
  })
}
