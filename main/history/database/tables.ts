import type { ColumnType, Generated } from 'kysely'

/** Column set by SQLite or by a later update. */
type Optional<T> = ColumnType<T | null, T | null | undefined, T | null>

/** A line of the history list; small, so that many are listed fast. */
export interface SessionsTable {
  key: Generated<number>
  id: string
  name: string
  created_at: string
  notes: string
  /** JSON array of strings. */
  tags: string
  state: string
  planned: number
  results: ColumnType<number, number | undefined, number>
  failures: ColumnType<number, number | undefined, number>
  /** JSON arrays of strings: what is in it, for the list and the search. */
  ops: string
  devices: string
  /** Unix ms; null while not deleted. */
  deleted_at: Optional<number>
  /** The process that runs it (main/process-owner.ts); null when none does. */
  owner: Optional<string>
  /** Kind of a session that no sweep made (Session.about), and the id of the one it adds to. */
  about: Optional<string>
  adds_to: Optional<string>
  /** JSON of core/analysis/case-history.ts's Machine; null where the environment could not be read. */
  machine: Optional<string>
}

/** What only an opened session needs. JSON. */
export interface SessionDetailsTable {
  session: number
  spec: string | null
  settings: string | null
  environment: string
}

/** Every distinct case once. `identity` is caseId; `json` keeps the case exactly as it came. */
export interface CasesTable {
  key: Generated<number>
  identity: string
  json: string
}

export interface PlannedTable {
  session: number
  position: number
  case_key: number
}

/** What tables and charts show of a result: scanned by the hundred thousand, so samples and details live in bodies. */
export interface ResultsTable {
  session: number
  position: number
  id: string
  case_key: number
  body: number
  /** Index into STATUSES. */
  status: number
  /** 0: none, 1: A, 2: B, 3: C. */
  grade: number
  message: string | null
  /** ROW_NUMBERS in order as float64, absent ones NaN. */
  numbers: Uint8Array
}

export interface BodiesTable {
  key: Generated<number>
  /** The result without its case and what stands beside it as bytes. */
  json: string
  /** samplesNs as float64. */
  samples: Uint8Array
  /** clocksMhz and probesNs as float64; null where there are none, or where a version that kept them in `json` wrote it. */
  clocks: Optional<Uint8Array>
  probes: Optional<Uint8Array>
}

export interface CeilingsTable {
  backend: string
  device: string
  device_name: string
  /** Empty where it is not known. */
  driver: string
  kind: string
  json: string
}

/** The last self-check of each device under each driver. */
export interface NoiseFloorsTable {
  backend: string
  device: string
  device_name: string
  driver: string
  json: string
}

export interface Tables {
  sessions: SessionsTable
  session_details: SessionDetailsTable
  cases: CasesTable
  planned: PlannedTable
  results: ResultsTable
  bodies: BodiesTable
  ceilings: CeilingsTable
  noise_floors: NoiseFloorsTable
}
