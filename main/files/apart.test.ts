import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { Emit } from '../ipc/register'
import type { HostProcess } from '../measurement/link'
import { createFilesApart } from './apart'
import type { FileJob, FileJobAnswer } from './jobs'

/** A process that does what the test says, and the events the page would get. */
function scripted(act: (job: FileJob, say: (answer: FileJobAnswer) => void, exit: (reason: string) => void) => void) {
  const told: unknown[] = []
  const jobs: FileJob[] = []
  const emit = ((_: string, payload: unknown) => void told.push(payload)) as Emit
  const files = createFilesApart('history.sqlite', emit, () => {
    let hear: (message: unknown) => void = () => undefined
    let left: (reason: string) => void = () => undefined
    const child: HostProcess<FileJob> = {
      post: (job) => {
        jobs.push(job)
        queueMicrotask(() => act(job, (answer) => hear(answer), (reason) => left(reason)))
      },
      kill: () => queueMicrotask(() => left('killed')),
      onMessage: (listener) => (hear = listener),
      onStderr: () => undefined,
      onExit: (listener) => (left = listener),
    }
    return Promise.resolve(child)
  })
  return { files, told, jobs }
}

const target = () => join(mkdtempSync(join(tmpdir(), 'opscope-apart-')), 'out.json')
const wanted = (path: string) => ({ id: 's', format: 'json', leaveOut: [], users: [], path })

test('a cancelled export has neither a file nor a problem, and leaves no part of one', async () => {
  let begun: () => void = () => undefined
  const writing = new Promise<void>((resolve) => (begun = resolve))
  const { files, told, jobs } = scripted((job) => {
    if (job.kind === 'export') writeFileSync(job.temporary, 'half')
    begun()
  })
  const path = target()
  const ended = files.export(wanted(path))
  await writing
  expect(await files.cancel()).toBe(true)
  expect(await ended).toEqual({})
  expect(jobs[0]).toMatchObject({ kind: 'export' })
  expect(existsSync((jobs[0] as FileJob & { kind: 'export' }).temporary)).toBe(false)
  expect(existsSync(path)).toBe(false)
  expect(told.at(-1)).toEqual({ work: 'export', name: 'out.json' })
})

test('a copy is told by the name of its session, not by the file it goes through', async () => {
  const { files, told } = scripted((_, tell) => {
    tell({ kind: 'progress', share: 0.5 })
    tell({ kind: 'failed', message: 'disk full' })
  })
  expect(await files.export({ ...wanted(target()), copyOf: 'Night run' })).toEqual({ problem: 'Night run could not be copied (disk full).' })
  expect(told).toEqual([{ work: 'copy', name: 'Night run', share: 0 }, { work: 'copy', name: 'Night run', share: 0.5 }, { work: 'copy', name: 'Night run' }])
})

test('an export is cancelled until its process says that all is written, and done from then on', async () => {
  let whole: () => void = () => undefined
  const written = new Promise<void>((resolve) => (whole = resolve))
  let say: (answer: FileJobAnswer) => void = () => undefined
  const { files } = scripted((job, tell) => {
    if (job.kind === 'export') writeFileSync(job.temporary, 'all')
    say = tell
    whole()
  })
  const path = target()
  writeFileSync(path, 'old')
  const early = files.export(wanted(path))
  await written
  expect(await files.cancel()).toBe(true)
  expect(await early).toEqual({})
  expect(readFileSync(path, 'utf8')).toBe('old')

  const late = files.export(wanted(path))
  await expect.poll(() => readdirSync(dirname(path))).toHaveLength(2)
  say({ kind: 'done', value: undefined })
  expect(await files.cancel()).toBe(false)
  expect(await late).toEqual({ value: true })
  expect(readFileSync(path, 'utf8')).toBe('all')
  expect(readdirSync(dirname(path))).toEqual(['out.json'])
})

test('a file that cannot take its place is told with the reason', async () => {
  const { files } = scripted((job, say) => {
    if (job.kind === 'export') writeFileSync(job.temporary, 'all')
    say({ kind: 'done', value: undefined })
  })
  const path = target()
  mkdirSync(join(path, 'in the way'), { recursive: true })
  expect((await files.export(wanted(path))).problem).toMatch(/^out\.json could not be written; nothing was changed \(.*folder\)\.$/)
  expect(readdirSync(dirname(path))).toEqual(['out.json'])
})

test('a process that ends by itself is told with the file, and its half is removed', async () => {
  const { files, jobs } = scripted((job, _, exit) => {
    if (job.kind === 'export') writeFileSync(job.temporary, 'half')
    exit('it was ended by SIGSEGV')
  })
  expect((await files.export(wanted(target()))).problem).toMatch(/^out\.json could not be written; nothing was changed \(.*SIGSEGV\)\.$/)
  expect(existsSync((jobs[0] as FileJob & { kind: 'export' }).temporary)).toBe(false)
})

test('files wait for each other, and one that fails holds up none', async () => {
  const order: string[] = []
  const { files } = scripted((job, say) => {
    const name = job.kind === 'open' ? job.name : ''
    order.push(`begin ${name}`)
    setTimeout(() => {
      order.push(`end ${name}`)
      say({ kind: 'refused', message: `${name}: bad` })
    }, 5)
  })
  expect(await Promise.all([files.open('a', 'a'), files.open('b', 'b')])).toEqual([{ problem: 'a: bad' }, { problem: 'b: bad' }])
  expect(order).toEqual(['begin a', 'end a', 'begin b', 'end b'])
})
