import { basename, join } from 'node:path'
import { clipboard } from 'electron'
import { identifying, usualRedactions } from '@core/formats/redact'
import { exportFormat, FORMATS, formatInfo, importExtensions } from '@core/formats/registry'
import { suiteOfSession } from '@core/suites'
import type { Services } from '../../app/services'
import { exportText } from '../../files/export-text'
import { suiteFiles } from '../../files/suite-files'
import { thisUser } from '../../paths'
import { importAll, whyNotNow } from '../../import/import-files'
import { RequestError, type Handlers } from '../answer'
import { chartFile, writeChosen } from '../chosen-file'

const CHART_KINDS = { png: 'PNG picture', svg: 'SVG picture', csv: 'CSV table' }

/** A session of more results is read apart: it takes long enough to be felt. */
const MAX_READ_HERE = 500

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

function formatOf(id: string): ReturnType<typeof exportFormat> {
  try {
    return exportFormat(id)
  } catch (error) {
    throw new RequestError('bad-request', `Opscope ${reasonOf(error)}.`)
  }
}

function refuseInRun(runner: Services['runner']): void {
  const busy = whyNotNow({ runner })
  if (busy !== undefined) throw new RequestError('busy', busy)
}

/** Exporting and importing sessions and saving charts. Paths come from dialogs; dropped files bring their contents. */
export const fileHandlers = ({ history, runner, dialogs, emit, opened, files, recent }: Services) =>
  ({
    'formats:list': () => FORMATS.map(formatInfo),
    'sessions:identifying': async ({ id }) => {
      if (history.summary(id).results <= MAX_READ_HERE) return identifying(history.exportSession(id), thisUser())
      const { value, problem } = await files.identify(id, thisUser().users)
      if (!value) throw new RequestError('failed', problem ?? 'Reading the session was stopped.')
      return value
    },
    'sessions:export': async ({ id, format, leaveOut }) => {
      const { title, extension, suffix = extension, forSharing } = formatOf(format)
      const { name } = history.summary(id)
      const path = await dialogs.save('Export session', `${name}.${suffix}`, { name: title, extensions: [extension] })
      if (path === undefined) return { done: false }
      const { value, problem } = await files.export({ id, format, leaveOut: leaveOut ?? [...usualRedactions({ forSharing })], users: thisUser().users, path })
      if (problem !== undefined) throw new RequestError('failed', problem)
      return value ? { done: true, name: basename(path) } : { done: false }
    },
    'sessions:copy': async ({ id, format, leaveOut }) => {
      const { extension, forSharing } = formatOf(format)
      const { value, problem } = await exportText(files, { id, format, leaveOut: leaveOut ?? [...usualRedactions({ forSharing })], users: thisUser().users, copyOf: history.summary(id).name }, extension)
      if (problem !== undefined) throw new RequestError('failed', problem)
      if (value === undefined) return { done: false }
      await clipboard.writeText(value)
      return { done: true, bytes: Buffer.byteLength(value) }
    },
    'suite:save': async ({ id, leaveOut }) => {
      const suite = suiteOfSession(history.getSession(id).session)
      if (!suite) throw new RequestError('bad-request', 'This session is not of a suite.')
      const folder = await dialogs.folder(`Save the reports of ${suite.title}`)
      if (folder === undefined) return { done: false }
      const written: string[] = []
      for (const { format, name } of suiteFiles(suite)) {
        const { value, problem } = await files.export({ id, format, leaveOut: leaveOut ?? [...usualRedactions(formatOf(format))], users: thisUser().users, path: join(folder, name) })
        if (problem !== undefined) throw new RequestError('failed', problem)
        if (!value) break
        written.push(name)
      }
      return { done: true, into: basename(folder), names: written }
    },
    'sessions:import': async () => {
      // Told before the user has looked for a file.
      refuseInRun(runner)
      const paths = await dialogs.open('Import sessions', { name: 'Sessions and results', extensions: importExtensions() })
      return importAll({ history, runner, emit, files, recent }, paths.map((path) => ({ name: basename(path), from: path })))
    },
    'sessions:import-dropped': ({ dropped }) => importAll({ history, runner, emit, files }, dropped.map(({ name, bytes }) => ({ name, from: bytes }))),
    'transfer:cancel': async () => ({ stopped: await files.cancel() }),
    'sessions:take-opened': () => opened.take(),
    'chart:save': async (request) => {
      const content = chartFile(request)
      const path = await dialogs.save('Save chart', `${request.name}.${request.kind}`, { name: CHART_KINDS[request.kind], extensions: [request.kind] })
      return path === undefined ? { done: false } : writeChosen(path, content)
    },
  }) satisfies Partial<Handlers>
