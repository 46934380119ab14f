import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import type { Reply } from '@core/ipc'
import type { SweepFile } from '@core/sweep/capture'
import { call } from '../../lib/api'
import { useNotices } from '../../stores/notices'

type Run = Extract<Reply<'capture:run'>, { done: true }>

/** A captured sweep on show. `run`: how its script ended, where it ran just now; a file does not say. */
export interface Capture {
  sweep: SweepFile & { captured: NonNullable<SweepFile['captured']> }
  run?: Pick<Run, 'output' | 'stopped' | 'problem'>
}

/** The captured sweep that the Capture view shows: of a script that has run, or of a file. */
export const useCaptures = defineStore('captures', () => {
  const notices = useNotices()
  const shown = shallowRef<Capture>()
  /** Counts the files opened, for whoever brings the view to the front. */
  const opened = ref(0)

  /** Shows what a script has called. */
  function take({ script, torch, calls, shapes, picks, output, stopped, problem }: Run): void {
    shown.value = { sweep: { opscopeSweep: 1, name: `Shapes of ${script}`, picks, captured: { torch, command: [script], calls, ...shapes } }, run: { output, stopped, ...(problem === undefined ? {} : { problem }) } }
  }

  /** Shows the sweep of a file. One that lists no calls can only be measured on the command line. */
  function open(sweep: SweepFile): void {
    if (!sweep.captured) return notices.show({ level: 'error', message: `“${sweep.name}” does not say what was called. Measure it on the command line: opscope run --plan.` })
    const before = shown.value
    shown.value = { sweep: { ...sweep, captured: sweep.captured } }
    opened.value++
    notices.show({ level: 'info', message: `Opened “${sweep.name}”.`, ...(before ? { undo: () => Promise.resolve(void (shown.value = before)) } : {}) })
  }

  async function save(): Promise<void> {
    if (!shown.value) return
    try {
      const reply = await call('capture:save', shown.value.sweep)
      if (reply.done) notices.show({ level: 'info', message: `Saved ${reply.name}.` })
    } catch (error) {
      notices.fail(error, 'save the captured sweep')
    }
  }

  return { shown, opened, take, open, save }
})
