import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exportSession, FORMATS, importSession, prepareExport } from '../registry'
import { checkImporter } from './check-importer'
import { goldenCeilings, goldenSession } from './sessions'

for (const id of ['html', 'suite-picture']) await prepareExport(id)

/**
 * What every format is held to, found by folder. test/fixtures/formats/<id>/ holds `export.<extension>`, what the golden
 * session is written as; `import/`, files of the tool itself or built from its schema (their README says which); and
 * `imported/`, the native session each of them was read as. OPSCOPE_UPDATE_GOLDEN=1 writes golden files anew: look at
 * the difference before it is committed.
 */
const FIXTURES = resolve(import.meta.dirname, '../../../test/fixtures/formats')
const UPDATE = process.env['OPSCOPE_UPDATE_GOLDEN'] === '1'
const MUTATIONS = 10_000
/** Larger files of tools are read, and not damaged ten thousand times. */
const LARGEST_BASE = 16 * 1024

function expectGolden(path: string, text: string): void {
  if (UPDATE) {
    mkdirSync(resolve(path, '..'), { recursive: true })
    writeFileSync(path, text)
  }
  expect(text).toBe(readFileSync(path, 'utf8'))
}

const exporters = FORMATS.filter((format) => format.exportSession)
const importers = FORMATS.filter((format) => format.importSession)

describe.each(exporters.map((format) => [format.id, format] as const))('%s, written', (id, format) => {
  const text = exportSession(id, goldenSession(), { ceilings: goldenCeilings })

  it('is the golden file', () => expectGolden(join(FIXTURES, id, `export.${format.extension}`), text))

  it('is UTF-8 without a byte order mark and ends in one newline', () => {
    expect(Buffer.from(text, 'utf8').toString('utf8')).toBe(text)
    expect(text).toMatch(/^[^\ufeff][^]*[^\n]\n$/)
  })
})

describe.each(importers.map((format) => [format.id, format] as const))('%s, read', (id, format) => {
  const folder = join(FIXTURES, id, 'import')
  const files = existsSync(folder) ? readdirSync(folder).sort() : []
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')

  it('has files to read', () => expect(files).not.toEqual([]))

  it.each(files)('reads %s as the golden session', (name) => {
    const outcome = importSession(name, read(name), '2026-01-01T00:00:00.000Z')
    if (!outcome.ok) throw new Error(outcome.message)
    expectGolden(join(FIXTURES, id, 'imported', `${name}.opscope.json`), exportSession('json', outcome.file))
  })

  it(`answers ${MUTATIONS} damaged files with a valid session or one message`, () => {
    const small = files.map(read).filter((text) => text.length <= LARGEST_BASE)
    expect(small).not.toEqual([])
    const report = checkImporter(format, small, MUTATIONS)
    expect(report.problems).toEqual([])
    // Everything refused, or nothing, would mean that the damage is not where the reader looks.
    expect(report.accepted).toBeGreaterThan(MUTATIONS / 100)
    expect(report.refused).toBeGreaterThan(MUTATIONS / 100)
  }, 120_000)
})
