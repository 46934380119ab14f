/**
 * node scripts/history-fixtures.mjs: writes test/fixtures/history/schema-<n>.sql, a database as each schema of the
 * history had it, for those that are not there yet. Run it after adding a migration and commit the new file; a file
 * that is there is what users have, and is never written again.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = join(root, 'test', 'fixtures', 'history')
const load = async (path) => (await runnerImport(join(root, path), { root, configFile: false, logLevel: 'error', resolve: { alias: { '@core': join(root, 'core') } } })).module
const { MIGRATIONS } = await load('main/history/database/migrate.ts')
const { fixtureSql } = await load('main/history/testing/fixture.ts')
mkdirSync(folder, { recursive: true })
for (let version = 1; version <= MIGRATIONS.length; version++) {
  const file = join(folder, `schema-${version}.sql`)
  if (existsSync(file)) continue
  writeFileSync(file, fixtureSql(version))
  console.log(`wrote ${file}`)
}
process.exit(0)
