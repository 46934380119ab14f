import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FORMATS, exportSession } from '@core/formats/registry'
import { goldenSession } from '@core/formats/testing/sessions'
import { openHistory } from '../history'
import { runFileJob, type FileJobAnswer } from './jobs'

function stored() {
  const folder = mkdtempSync(join(tmpdir(), 'opscope-files-'))
  const file = join(folder, 'history.sqlite')
  const { history } = openHistory(file)
  const { id } = history.importSession(goldenSession())
  return { folder, file, history, id }
}

/** Everything the job said, of which the last word says how it ended. */
async function said(job: Parameters<typeof runFileJob>[0]): Promise<FileJobAnswer[]> {
  const answers: FileJobAnswer[] = []
  await runFileJob(job, (answer) => answers.push(answer))
  return answers
}

test('a session is written as its exporter gives it, in every format, with shares that never fall', async () => {
  const { folder, file, history, id } = stored()
  const wanted = history.exportSession(id)
  for (const { id: format } of FORMATS.filter((one) => one.exportSession)) {
    const path = join(folder, `out.${format}`)
    const answers = await said({ kind: 'export', history: file, id, format, leaveOut: [], users: [], path, temporary: `${path}.part` })
    expect(answers.at(-1)).toEqual({ kind: 'done', value: undefined })
    expect(readFileSync(`${path}.part`, 'utf8')).toBe(exportSession(format, wanted, { ceilings: history.ceilings() }))
    // Whether it becomes the file is for who may cancel it.
    expect(existsSync(path)).toBe(false)
    const shares = answers.flatMap((answer) => (answer.kind === 'progress' ? [answer.share] : []))
    expect(shares).toEqual([...shares].sort((a, b) => a - b))
    expect(shares.length).toBeGreaterThan(0)
  }
  history.close()
})

test('what identifies the machine is left out of what a process of its own writes', async () => {
  const { folder, file, history, id } = stored()
  const host = goldenSession().environment.host
  const path = join(folder, 'out.json')
  await said({ kind: 'export', history: file, id, format: 'json', leaveOut: ['host'], users: [], path, temporary: `${path}.part` })
  expect(readFileSync(`${path}.part`, 'utf8')).not.toContain(`"host":"${host}"`)
  expect(readFileSync(`${path}.part`, 'utf8')).toContain('"host":"[host]"')
  history.close()
})

test('a session that is not there is a failure in words, and the file stays as it was', async () => {
  const { folder, file, history } = stored()
  const path = join(folder, 'out.json')
  writeFileSync(path, 'old')
  const answers = await said({ kind: 'export', history: file, id: 'none', format: 'json', leaveOut: [], users: [], path, temporary: `${path}.part` })
  expect(answers).toEqual([{ kind: 'failed', message: expect.stringMatching(/session/) as string }])
  expect(readFileSync(path, 'utf8')).toBe('old')
  expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([])
  history.close()
})

test('a file that is opened comes in parts that make it whole, and a bad one is refused by its name', async () => {
  const golden = goldenSession()
  const results = Array.from({ length: 600 }, (_, i) => ({ ...golden.results[0]!, id: `r-${i}` }))
  const file = { ...golden, results }
  const answers = await said({ kind: 'open', name: 'big.json', from: Buffer.from(exportSession('json', file)) })
  const parts = answers.flatMap((answer) => (answer.kind === 'results' ? [answer.results] : []))
  expect(parts.length).toBeGreaterThan(1)
  const last = answers.at(-1)
  if (last?.kind !== 'done') throw new Error('not read')
  expect({ ...(last.value as object), results: parts.flat() }).toEqual(file)
  expect((await said({ kind: 'open', name: 'bad.json', from: Buffer.from('{') })).at(-1)).toEqual({ kind: 'refused', message: expect.stringMatching(/^bad\.json: /) as string })
})
