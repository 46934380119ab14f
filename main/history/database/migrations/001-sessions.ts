import { sql } from 'kysely'
import type { Migration } from '../migrate'

/** Sessions, what was planned for them, and their results. */
const migration: Migration = ({ schema }) => [
  schema
    .createTable('sessions')
    .addColumn('key', 'integer', (c) => c.primaryKey())
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('notes', 'text', (c) => c.notNull())
    .addColumn('tags', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('planned', 'integer', (c) => c.notNull())
    .addColumn('results', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('failures', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('ops', 'text', (c) => c.notNull())
    .addColumn('devices', 'text', (c) => c.notNull())
    .addColumn('deleted_at', 'integer')
    .addColumn('owner', 'text'),
  schema
    .createTable('session_details')
    .addColumn('session', 'integer', (c) => c.primaryKey().references('sessions.key').onDelete('cascade'))
    .addColumn('spec', 'text')
    .addColumn('settings', 'text')
    .addColumn('environment', 'text', (c) => c.notNull()),
  schema
    .createTable('cases')
    .addColumn('key', 'integer', (c) => c.primaryKey())
    .addColumn('identity', 'text', (c) => c.notNull())
    .addColumn('json', 'text', (c) => c.notNull().unique()),
  schema
    .createTable('planned')
    .addColumn('session', 'integer', (c) => c.notNull().references('sessions.key').onDelete('cascade'))
    .addColumn('position', 'integer', (c) => c.notNull())
    .addColumn('case_key', 'integer', (c) => c.notNull().references('cases.key'))
    .addPrimaryKeyConstraint('planned_place', ['session', 'position'])
    .modifyEnd(sql`without rowid`),
  schema
    .createTable('bodies')
    .addColumn('key', 'integer', (c) => c.primaryKey())
    .addColumn('json', 'text', (c) => c.notNull())
    .addColumn('samples', 'blob', (c) => c.notNull()),
  schema
    .createTable('results')
    .addColumn('session', 'integer', (c) => c.notNull().references('sessions.key').onDelete('cascade'))
    .addColumn('position', 'integer', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('case_key', 'integer', (c) => c.notNull().references('cases.key'))
    .addColumn('body', 'integer', (c) => c.notNull())
    .addColumn('status', 'integer', (c) => c.notNull())
    .addColumn('grade', 'integer', (c) => c.notNull())
    .addColumn('message', 'text')
    .addColumn('numbers', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('results_place', ['session', 'position'])
    .modifyEnd(sql`without rowid`),
]
export default migration
