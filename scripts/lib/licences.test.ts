import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { collectLicences } from './licences.mjs'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'opscope-licences-'))
  const make = (name: string, about: object, files: Record<string, string>) => {
    const folder = join(root, 'node_modules', name)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '1.2.3', ...about }))
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  }
  make('zod', { license: 'MIT' }, { LICENSE: 'MIT text\n', 'index.js': '' })
  make('@scope/chart', { license: 'Apache-2.0' }, { 'LICENSE.txt': 'Apache text', NOTICE: 'Notice text' })
  make('runtime', { license: { type: 'BSD-3-Clause' } }, {})
  make('only-for-tests', { license: 'MIT' }, { LICENSE: 'unused' })
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

it('the licences of all bundled packages are written once each, with their texts and notices', () => {
  const file = join(root, 'out', 'renderer', 'licences.json')
  const plugin = collectLicences({ file, also: ['runtime'], root })
  const chunk = (...modules: string[]) => ({ a: { type: 'chunk', moduleIds: modules } })
  plugin.generateBundle({}, chunk(join(root, 'core/units.ts'), join(root, 'node_modules/zod/index.js'), `\0${join(root, 'node_modules/zod/v4/core.js')}?commonjs-proxy`))
  plugin.closeBundle()
  plugin.generateBundle({}, { ...chunk(join(root, 'node_modules/@scope/chart/lib/a.js')), b: { type: 'asset' } })
  plugin.closeBundle()
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([
    { name: '@scope/chart', version: '1.2.3', licence: 'Apache-2.0', text: 'Apache text\n\nNotice text' },
    { name: 'runtime', version: '1.2.3', licence: 'BSD-3-Clause', text: '' },
    { name: 'zod', version: '1.2.3', licence: 'MIT', text: 'MIT text' },
  ])
})
