import { killGroup, spawnGroup } from '../process-group'
import { probeSchema, type Probe } from '../protocol'
import type { WorkerCommand } from '../worker-process'

export type Probed = { probe: Probe } | { problem: string }

/** Far more than a probe has to say. */
const MOST_CHARACTERS = 1 << 18

/** The last line that is a JSON object: libraries may greet on stdout before it. */
function objectIn(text: string): unknown {
  for (const line of text.split('\n').reverse()) {
    if (!line.startsWith('{')) continue
    try {
      return JSON.parse(line)
    } catch {
      return undefined
    }
  }
  return undefined
}

const lastLine = (text: string) => text.trim().split('\n').at(-1)?.trim() ?? ''

/** Asks an interpreter what it can compute with; never rejects. `problem` says in one sentence why nothing was learned. */
export function probe({ program, args, env }: WorkerCommand, limitMs: number): Promise<Probed> {
  return new Promise((resolve) => {
    const child = spawnGroup(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
    let said = ''
    let complaint = ''
    const end = (result: Probed) => {
      clearTimeout(late)
      killGroup(child)
      child.stdout?.destroy()
      child.stderr?.destroy()
      resolve(result)
    }
    const late = setTimeout(() => end({ problem: `it did not say within ${limitMs / 1000} s which packages it has` }), limitMs)
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.length > MOST_CHARACTERS) end({ problem: 'it printed more than a Python that was asked for its packages has to say' })
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-MOST_CHARACTERS)))
    child.on('error', (error) => end({ problem: `it could not be started: ${error.message}` }))
    child.on('close', (code, signal) => {
      const parsed = probeSchema.safeParse(objectIn(said))
      if (parsed.success) return end({ probe: parsed.data })
      // Before 3.7 Python does not even read the probe; 3.7 reads it and says so.
      if (/^(SyntaxError: |too old$)/m.test(complaint)) return end({ problem: 'it is too old: Python 3.8 or newer is needed' })
      const how = signal ? `was killed (${signal})` : code === 0 ? 'did not answer as a Python does' : `ended with status ${code}`
      end({ problem: `it ${how} when asked for its packages${complaint.trim() === '' ? '' : `: ${lastLine(complaint).slice(0, 300)}`}` })
    })
  })
}
