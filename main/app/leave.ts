import type { RunState } from '@core/ipc'
import { formatInteger } from '@core/units'
import type { Runner } from '../runner/types'

/** What the user wants of a run that is in progress when the app is to close. */
export type LeaveChoice = 'stop' | 'continue' | 'cancel'

export interface LeaveDeps {
  runner: Pick<Runner, 'state' | 'on'>
  ask(state: RunState): Promise<LeaveChoice>
  /** Takes the window away, while the app goes on. */
  hide(): void
  quit(): void
}

/** The question before the app closes in a run. */
export interface Leave {
  /** Whether the app may close now. Where a run is in progress, false: the user is asked, and `quit` is called once it may. */
  allowed(): boolean
  /** The user wants the window again, so the app stays when the run ends. */
  stay(): void
  /** The system ends the app: nobody is asked. */
  force(): void
}

export function createLeave({ runner, ask, hide, quit }: LeaveDeps): Leave {
  let agreed = false
  let asking = false
  let leaving = false

  async function question(): Promise<void> {
    asking = true
    const choice = await ask(runner.state()).finally(() => (asking = false))
    if (choice === 'cancel') return
    if (choice === 'stop' || runner.state().phase === 'idle') {
      agreed = true
      return quit()
    }
    leaving = true
    hide()
  }

  runner.on('ended', () => {
    if (leaving) quit()
  })

  return {
    allowed() {
      if (agreed || runner.state().phase === 'idle') return true
      if (!asking) void question()
      return false
    },
    stay: () => void (leaving = false),
    force: () => void (agreed = true),
  }
}

const count = (n: number) => formatInteger(n)

/** The question in words; the choices are the buttons in this order. */
export function leaveQuestion({ done, total }: RunState): { message: string; detail: string; buttons: readonly [LeaveChoice, string][] } {
  return {
    message: 'A run is in progress',
    detail: `${count(done)} of ${count(total)} cases are measured and stored. If you stop, the next start offers to measure the rest. If you continue, the window closes now and Opscope quits when the run has ended.`,
    buttons: [['stop', 'Stop and keep results'], ['continue', 'Continue in the background'], ['cancel', 'Cancel']],
  }
}

/** Electron's powerSaveBlocker, as far as it is used. */
export interface SleepBlocker {
  start(type: 'prevent-app-suspension'): number
  stop(id: number): void
}

/** Keeps the system from going to sleep while something is measured; a paused run does not. */
export function preventSleep(runner: Pick<Runner, 'on'>, blocker: SleepBlocker): void {
  let held: number | undefined
  runner.on('state', ({ phase }) => {
    const measuring = phase !== 'idle' && phase !== 'paused'
    if (measuring) held ??= blocker.start('prevent-app-suspension')
    else if (held !== undefined) {
      blocker.stop(held)
      held = undefined
    }
  })
}
