import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Redaction } from '@core/formats/redact'
import type { Reply } from '@core/ipc'
import { runCommand } from '../commands/registry'
import { call } from '../lib/api'
import { useNotices } from './notices'
import { useSessions } from './sessions'

interface Asked {
  id: string
  name: string
}

type Format = Reply<'formats:list'>[number]
type Target = 'file' | 'clipboard'

/** Extensions of text that is pasted elsewhere: other formats are files to be opened. */
const PASTED = new Set(['csv', 'json', 'jsonl', 'md'])
export const isCopyable = ({ extension }: Pick<Format, 'extension'>): boolean => PASTED.has(extension)

/** A file, or text for the clipboard, about to be written, with what in it identifies the machine or a person. */
export interface Review {
  name: string
  format: Pick<Format, 'title' | 'forSharing'>
  found: Reply<'sessions:identifying'>
  /** Where it goes: to a file that is chosen next, or to the clipboard. */
  to: Target
  /** Writes it without these. */
  write(leaveOut: Redaction[]): Promise<void>
}

/** Writing a session as a file or onto the clipboard: which session, the formats there are, and what is left out. */
export const useExporting = defineStore('exporting', () => {
  const sessions = useSessions()
  const notices = useNotices()
  const all = shallowRef<Format[]>([])
  const formats = computed(() => all.value.filter((format) => format.exportable))
  /** The session whose format is being chosen. */
  const asked = shallowRef<Asked>()
  /** What to look at before it is written. */
  const review = shallowRef<Review>()
  /** Whether files that are not made to be sent are looked at as well. */
  const reviewAll = ref(false)
  let chosen: string | undefined

  async function start(): Promise<void> {
    try {
      all.value = await call('formats:list', undefined)
    } catch (error) {
      notices.fail(error, 'list the file formats')
    }
  }

  /** Lets the user choose a format for this session, then a place for the file, or the clipboard. */
  function ask(id: string, name: string): void {
    const format = chosen
    chosen = undefined
    if (format === undefined) asked.value = { id, name }
    else void begin({ id, name }, format)
  }

  /** Exports the session that the export command means in this view, in a format chosen already. */
  function askAs(format: string): void {
    chosen = format
    runCommand('session.export')
    chosen = undefined
  }

  async function choose(format: string, to: Target = 'file'): Promise<void> {
    const session = asked.value
    asked.value = undefined
    if (session) await begin(session, format, to)
  }

  /** Shows what would be told before it is written, where the format is made to be sent or the user wants to see it. */
  async function begin(session: Asked, formatId: string, to: Target = 'file'): Promise<void> {
    const format = formats.value.find(({ id }) => id === formatId)
    const go = (leaveOut?: Redaction[]) => (format && to === 'clipboard' ? sessions.copySession(session.id, format, leaveOut) : sessions.exportSession(session.id, formatId, leaveOut))
    if (!format || !(format.forSharing || reviewAll.value)) return go()
    await reviewed(session, format, to, go)
  }

  /** All reports of a suite into a folder: the session itself is among them, so what would be told is always shown. */
  const saveSuite = (session: Asked) => reviewed(session, { title: 'Reports', forSharing: true }, 'file', (leaveOut) => sessions.saveSuite(session.id, leaveOut))

  async function reviewed({ id, name }: Asked, format: Review['format'], to: Target, writeIt: (leaveOut?: Redaction[]) => Promise<void>): Promise<void> {
    try {
      const found = await call('sessions:identifying', { id })
      if (found.length === 0) return await writeIt()
      review.value = { name, format, found, to, write: writeIt }
    } catch (error) {
      notices.fail(error, 'read the session')
    }
  }

  /** Writes what is being looked at, without these. */
  async function write(leaveOut: Redaction[]): Promise<void> {
    const looked = review.value!
    review.value = undefined
    await looked.write(leaveOut)
  }

  return { formats, asked, review, reviewAll, start, ask, askAs, exportAs: begin, saveSuite, choose, write }
})
