import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import type { FormatInfo } from '@core/formats/file-format'
import { Cli, sweep } from './cli'

const fixture = (path: string) => resolve(import.meta.dirname, '../fixtures/formats', path)

test('list formats tells every format, and a session can be written in each that says so', async () => {
  const cli = new Cli()
  const formats = JSON.parse((await cli.run(['list', 'formats', '--json'])).out) as FormatInfo[]
  expect((await cli.run(['list', 'formats'])).out).toMatch(/format +import +export +file +what/)
  expect(formats.filter((format) => format.importable).map(({ id }) => id)).toEqual(expect.arrayContaining(['json', 'jsonl', 'csv', 'google-benchmark', 'nvbench']))
  await cli.run(sweep(1, 'steady'))
  for (const { id, exportable, extension } of formats) {
    const out = join(cli.folder, `${id}.${extension}`)
    const { status, err } = await cli.run(['export', 'last', '--format', id, '--out', out])
    if (exportable) expect(readFileSync(out, 'utf8')).toMatch(/[^\n]\n$/)
    else expect(err).toMatch(/format/)
    expect(status).toBe(exportable ? 0 : 2)
  }
})

test('the name of a file decides its format', async () => {
  const cli = new Cli()
  await cli.run(sweep(1, 'steady'))
  for (const [name, start] of [['a.opscope.json', /^\{\n"schemaVersion"/], ['a.jsonl', /^\{"schemaVersion"/], ['a.csv', /^op,/]] as const) {
    await cli.run(['export', 'last', '--out', join(cli.folder, name)])
    expect(readFileSync(join(cli.folder, name), 'utf8')).toMatch(start)
  }
})

test('results of other tools become sessions; a damaged one is refused beside good ones', async () => {
  const cli = new Cli()
  writeFileSync(join(cli.folder, 'cut.json'), readFileSync(fixture('google-benchmark/import/plain.json'), 'utf8').slice(0, 1500))
  const { status, out, err } = await cli.run(['import', fixture('google-benchmark/import/plain.json'), join(cli.folder, 'cut.json'), fixture('nvbench/import/built-from-schema.json'), fixture('csv/import/other-tool.csv')])
  expect(status).toBe(1)
  expect(out.split('\n').filter(Boolean)).toEqual([expect.stringMatching(/^Imported "plain": 4 results/), expect.stringMatching(/^Imported "built-from-schema": 6 results/), expect.stringMatching(/^Imported "other-tool": 3 results/)])
  expect(err).toMatch(/cut\.json: line \d+, column \d+: expected .*; nothing of it was imported/)
  expect((await cli.run(['show', 'plain'])).out).toMatch(/BM_Add/)
})

test('suites are listed with their cases, and refuse picks of their own', async () => {
  const cli = new Cli()
  const suites = JSON.parse((await cli.run(['list', 'suites', '--json'])).out) as { id: string; full: { cases: number }; quick: { cases: number } }[]
  expect(suites.map(({ id }) => id)).toEqual(['comprehensive', 'genesis', 'performance-guide', 'tenflowers', 'transformer-block', 'trueno'])
  for (const { full, quick } of suites) expect(full.cases).toBeGreaterThan(quick.cases)
  const refused = await cli.run(['run', '--suite', 'trueno', '--modes', 'cold'])
  expect([refused.status, refused.err]).toEqual([2, expect.stringContaining('--suite defines what is measured; remove --modes')])
  expect((await cli.run(['run', '--suite', 'truno'])).err).toMatch(/suite "truno".*trueno/s)
})
