import { sql } from 'kysely'
import type { Migration } from '../migrate'
import type { CeilingsTable } from '../tables'

/**
 * Ceilings per driver (unknown, and so empty, for those measured before it was recorded), noise floors of devices, what
 * a session is that no sweep made, and the figures beside each sample, as bytes like the samples.
 */
const migration: Migration = (db) => {
  const { schema } = db
  return [
    schema.alterTable('ceilings').renameTo('ceilings_002'),
    schema
      .createTable('ceilings')
      .addColumn('backend', 'text', (c) => c.notNull())
      .addColumn('device', 'text', (c) => c.notNull())
      .addColumn('device_name', 'text', (c) => c.notNull())
      .addColumn('driver', 'text', (c) => c.notNull())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('json', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('ceilings_key', ['backend', 'device', 'device_name', 'driver', 'kind']),
    db
      .insertInto('ceilings')
      .columns(['backend', 'device', 'device_name', 'driver', 'kind', 'json'])
      .expression(
        db
          .selectFrom(sql<CeilingsTable>`ceilings_002`.as('before'))
          .select(['before.backend', 'before.device', 'before.device_name', sql<string>`''`.as('driver'), 'before.kind', 'before.json']),
      ),
    schema.dropTable('ceilings_002'),
    schema
      .createTable('noise_floors')
      .addColumn('backend', 'text', (c) => c.notNull())
      .addColumn('device', 'text', (c) => c.notNull())
      .addColumn('device_name', 'text', (c) => c.notNull())
      .addColumn('driver', 'text', (c) => c.notNull())
      .addColumn('json', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('noise_floors_key', ['backend', 'device', 'device_name', 'driver']),
    schema.alterTable('sessions').addColumn('about', 'text'),
    schema.alterTable('sessions').addColumn('adds_to', 'text'),
    schema.createIndex('sessions_adds_to').on('sessions').column('adds_to'),
    schema.alterTable('bodies').addColumn('clocks', 'blob'),
    schema.alterTable('bodies').addColumn('probes', 'blob'),
  ]
}
export default migration
