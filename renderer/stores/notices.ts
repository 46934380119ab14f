import { defineStore } from 'pinia'
import { ref } from 'vue'
import { ApiError } from '../lib/api'

export interface Notice {
  id: number
  level: 'info' | 'warning' | 'error'
  /** When it was shown, in ms as of `performance.now()`. */
  shownAt: number
  message: string
  detail?: string
  /** Takes back what the notice tells of. */
  undo?: () => Promise<void>
  /** Address of the view that shows what the notice is about. */
  open?: string
}

const SHOWN_MS = { info: 6_000, warning: 12_000, error: 20_000 } as const
const UNDO_SHOWN_MS = 15_000
/** A notice that is shown just before a view opens belongs to that view. */
const BELONGS_MS = 2_000

/** Short messages in the corner, and the last action that can be undone. */
export const useNotices = defineStore('notices', () => {
  const notices = ref<Notice[]>([])
  let next = 1
  const undoable: Notice[] = []

  function dismiss(id: number): void {
    notices.value = notices.value.filter((notice) => notice.id !== id)
  }

  function show(notice: Omit<Notice, 'id' | 'shownAt'>): void {
    const id = next++
    const entry = { ...notice, id, shownAt: performance.now() }
    notices.value = [...notices.value.slice(-3), entry]
    if (notice.undo) undoable.push(entry)
    setTimeout(() => dismiss(id), notice.undo || notice.open ? UNDO_SHOWN_MS : SHOWN_MS[notice.level])
  }

  /** Another view opens: warnings and errors of the view before go. */
  function leaveView(): void {
    notices.value = notices.value.filter(({ level, undo: back, shownAt }) => level === 'info' || back !== undefined || performance.now() - shownAt < BELONGS_MS)
  }

  /** Shows an error; `doing` completes "Could not …" where the error is not one of ours. */
  function fail(problem: unknown, doing: string): void {
    if (problem instanceof ApiError) show({ level: 'error', message: problem.message, detail: problem.detail })
    else show({ level: 'error', message: `Could not ${doing}.`, detail: problem instanceof Error ? problem.message : String(problem) })
  }

  /** Says that imported results contradicted their own samples; all of them are in the detail and in the notes of the results. */
  function contradictions(warnings: readonly string[]): void {
    if (warnings.length === 1) show({ level: 'warning', message: warnings[0]! })
    else if (warnings.length > 1) show({ level: 'warning', message: 'Statistics in the file contradict its own samples. They were computed again.', detail: warnings.join('\n') })
  }

  async function undo(id?: number): Promise<void> {
    const at = id === undefined ? undoable.length - 1 : undoable.findIndex((entry) => entry.id === id)
    const [entry] = at < 0 ? [] : undoable.splice(at, 1)
    if (!entry?.undo) return
    dismiss(entry.id)
    try {
      await entry.undo()
    } catch (error) {
      fail(error, 'undo this')
    }
  }

  return { notices, show, fail, contradictions, dismiss, leaveView, undo }
})
