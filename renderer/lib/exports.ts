import type { ExportFormat } from '@core/ipc'

/** What a session can be written as, in the order of the buttons. */
export const EXPORTS: readonly { id: ExportFormat; title: string; about: string }[] = [
  { id: 'json', title: 'JSON', about: 'Export everything, samples too; can be imported again' },
  { id: 'csv', title: 'CSV', about: 'Export one line per result' },
  { id: 'html', title: 'HTML', about: 'Export a report with charts, in one file to send' },
]
