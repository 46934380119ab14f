import type { Migration } from '../migrate'

/** Measured limits of devices, one of each kind per device. */
const migration: Migration = ({ schema }) => [
  schema
    .createTable('ceilings')
    .addColumn('backend', 'text', (c) => c.notNull())
    .addColumn('device', 'text', (c) => c.notNull())
    .addColumn('device_name', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('json', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('ceilings_key', ['backend', 'device', 'device_name', 'kind']),
]
export default migration
