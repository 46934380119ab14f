import { sql } from 'kysely'
import type { Migration } from '../migrate'

/**
 * What one case needs to be followed over all sessions: its results without reading others, and what of each session's
 * machine bears on it without reading its whole environment.
 */
const migration: Migration = (db) => {
  const { schema } = db
  return [
    schema.createIndex('cases_identity').on('cases').column('identity'),
    schema.createIndex('results_case').on('results').column('case_key'),
    schema.alterTable('sessions').addColumn('machine', 'text'),
    db.updateTable('sessions').set({
      machine: sql<string | null>`(
        select case when json_valid(environment) then json_object(
          'host', environment ->> '$.host', 'os', environment ->> '$.os', 'kernel', environment ->> '$.kernel',
          'cpu', environment ->> '$.cpu', 'appVersion', environment ->> '$.appVersion',
          'devices', json((select json_group_array(json_object('backend', value ->> '$.backend', 'id', value ->> '$.id', 'name', value ->> '$.name', 'driver', value ->> '$.driver')) from json_each(environment, '$.devices')))
        ) end from session_details where session_details.session = sessions.key)`,
    }),
  ]
}
export default migration
