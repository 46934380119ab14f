import { checkText, isAlert, slowestText, type BaselineCheck } from '@core/compare/pinned'
import type { RunState } from '@core/ipc'
import type { Link } from '@core/session/links'
import type { SessionSummary } from '@core/session/types'
import { formatInteger } from '@core/units'
import type { Runner } from '../runner/types'

/** How a user who is elsewhere is told. */
export interface Attention {
  /** Whether the user has a window of the app in front. */
  isFocused(): boolean
  /** Shows a notification of the system; `click` is called when the user chooses it. */
  notify(notification: { title: string; body: string; click(): void }): void
  /** Brings the window to the front with this view. */
  open(link: Link): void
}

export interface Feedback extends Attention {
  runner: Pick<Runner, 'on'>
  summary(sessionId: string): Pick<SessionSummary, 'name' | 'results' | 'failures'>
  /** Shows how much of a run is done, from 0 to 1, on the taskbar; undefined takes that away. */
  setProgress(share: number | undefined, paused: boolean): void
}

/** Slower cases named in an alert; the system shows a few lines. */
const NAMED = 2

const count = (n: number) => formatInteger(n)

const shareOf = ({ phase, done, total }: RunState) => (phase === 'idle' || total === 0 ? undefined : done / total)

/** Progress on the taskbar during a run, and a notification at its end when the user is elsewhere. */
export function giveRunFeedback({ runner, summary, setProgress, isFocused, notify, open }: Feedback): void {
  runner.on('state', (state) => setProgress(shareOf(state), state.phase === 'paused'))
  runner.on('ended', ({ sessionId, state, problem }) => {
    if (isFocused()) return
    const { name, results, failures } = summary(sessionId)
    const failed = failures > 0 ? `, ${count(failures)} of them failed` : ''
    notify({
      title: problem !== undefined ? 'Results could not be stored' : state === 'done' ? 'Run finished' : 'Run stopped',
      body: `${name}: ${count(results)} ${results === 1 ? 'result' : 'results'}${failed}.`,
      click: () => open({ view: 'session', id: sessionId }),
    })
  })
}

/** Notifies of a finished session that differs from its pinned baseline, when the user is elsewhere; a click opens the comparison. */
export const alertOfBaselines = ({ isFocused, notify, open }: Attention) => (check: BaselineCheck): void => {
  if (isFocused() || !(isAlert(check) || check.faster > 0)) return
  notify({
    title: check.slower > 0 ? 'Slower than the baseline' : isAlert(check) ? 'Failed verification' : 'Faster than the baseline',
    body: [`${checkText(check)}.`, ...check.slowest.slice(0, NAMED).map(slowestText)].join('\n'),
    click: () => open({ view: 'compare', ids: [check.baselineId, check.sessionId] }),
  })
}
