import type { RunState } from '@core/ipc'
import type { SessionSummary } from '@core/session/types'
import { formatInteger } from '@core/units'
import type { Runner } from '../runner/types'

export interface Feedback {
  runner: Pick<Runner, 'on'>
  summary(sessionId: string): Pick<SessionSummary, 'name' | 'results' | 'failures'>
  /** Shows how much of a run is done, from 0 to 1, on the taskbar; undefined takes that away. */
  setProgress(share: number | undefined, paused: boolean): void
  /** Whether the user has a window of the app in front. */
  isFocused(): boolean
  /** Shows a notification of the system; `click` is called when the user chooses it. */
  notify(notification: { title: string; body: string; click(): void }): void
  /** Brings the window to the front with this session. */
  open(sessionId: string): void
}

const count = (n: number) => formatInteger(n)

const shareOf = ({ phase, done, total }: RunState) => (phase === 'idle' || total === 0 ? undefined : done / total)

/** Progress on the taskbar during a run, and a notification at its end when the user is elsewhere. */
export function giveRunFeedback({ runner, summary, setProgress, isFocused, notify, open }: Feedback): void {
  runner.on('state', (state) => setProgress(shareOf(state), state.phase === 'paused'))
  runner.on('ended', ({ sessionId, state, problem }) => {
    if (isFocused()) return
    const { name, results, failures } = summary(sessionId)
    const failed = failures > 0 ? `, ${count(failures)} without a valid result` : ''
    notify({
      title: problem !== undefined ? 'Results could not be stored' : state === 'done' ? 'Run finished' : 'Run stopped',
      body: `${name}: ${count(results)} ${results === 1 ? 'result' : 'results'}${failed}.`,
      click: () => open(sessionId),
    })
  })
}
