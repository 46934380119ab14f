import type { RunState } from '@core/ipc'
import { oneLine } from '../../printable'

/** Where progress goes: `isTTY` decides between one line that is redrawn and plain lines. */
export interface Screen {
  isTTY?: boolean | undefined
  columns?: number | undefined
  write(text: string): unknown
  /** Goes back to the beginning of the line and clears it: the one thing that is written to a terminal as it is. */
  clearLine(): unknown
}

/** 42 -> "42 s", 222 -> "3:42", 4000 -> "1:06:40". */
export function clock(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  const two = (n: number) => String(n).padStart(2, '0')
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`
}

/** `[#####.....] 31/84 · 0:42 left · layer_norm 16384x4096 bf16 cuda cold`, no wider than `columns`. */
export function progressLine(state: RunState, columns: number): string {
  const cells = 24
  const filled = state.total > 0 ? Math.floor((state.done / state.total) * cells) : 0
  const parts = [
    `[${'#'.repeat(filled)}${'.'.repeat(cells - filled)}] ${state.done}/${state.total}`,
    state.phase === 'stopping' ? 'stopping' : state.secondsLeft === undefined ? '' : `${clock(state.secondsLeft)} left`,
    state.failures > 0 ? `${state.failures} failed` : '',
    state.current ? oneLine(state.current) : '',
  ]
  return [...parts.filter((part) => part !== '').join(' · ')].slice(0, columns).join('')
}

/** Shows a run: a bar on a terminal, a line for each ended case elsewhere. */
export class ProgressView {
  #drawn = false

  constructor(private readonly screen: Screen) {}

  state(state: RunState): void {
    if (!this.screen.isTTY || state.phase === 'idle' || state.phase === 'starting') return
    this.screen.clearLine()
    this.screen.write(progressLine(state, (this.screen.columns ?? 80) - 1))
    this.#drawn = true
  }

  /** A line that stays; the bar is drawn again below it by the next state. */
  line(text: string): void {
    this.clear()
    this.screen.write(`${text}\n`)
  }

  clear(): void {
    if (this.#drawn) this.screen.clearLine()
    this.#drawn = false
  }
}
