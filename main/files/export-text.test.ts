import { existsSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import type { ExportRequest, FilesApart } from './apart'
import { exportText, MAX_CLIPBOARD_BYTES } from './export-text'

const request = { id: 's', format: 'csv', leaveOut: ['host'], users: [], copyOf: 'Night run' } as const

/** Exports by `write`, and what it was asked. */
function exporting(write: (path: string) => Awaited<ReturnType<FilesApart['export']>>) {
  const asked: ExportRequest[] = []
  const files = { export: (one: ExportRequest) => (asked.push(one), Promise.resolve(write(one.path))) }
  return { asked, files }
}

test('text for the clipboard is that of the file, of which nothing stays', async () => {
  const { asked, files } = exporting((path) => (writeFileSync(path, 'op,median\nsüß,1\n'), { value: true }))
  expect(await exportText(files, request, 'csv')).toEqual({ value: 'op,median\nsüß,1\n' })
  expect(asked[0]).toMatchObject(request)
  expect(existsSync(dirname(asked[0]!.path))).toBe(false)
})

test('a cancelled export gives no text, a failed one its problem, and text too large for a clipboard says so', async () => {
  expect(await exportText(exporting(() => ({})).files, request, 'csv')).toEqual({})
  expect(await exportText(exporting(() => ({ problem: 'The disk is full.' })).files, request, 'csv')).toEqual({ problem: 'The disk is full.' })
  const { asked, files } = exporting((path) => (writeFileSync(path, ''), truncateSync(path, MAX_CLIPBOARD_BYTES + 1), { value: true }))
  expect((await exportText(files, request, 'csv')).problem).toMatch(/at most .* are copied\. Export to a file instead\.$/)
  expect(existsSync(dirname(asked[0]!.path))).toBe(false)
})
