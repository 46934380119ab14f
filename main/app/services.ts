import type { Reply } from '@core/ipc'
import type { Link } from '@core/session/links'
import type { BaselineStore } from '../baselines/baselines'
import type { FilesApart } from '../files/apart'
import type { FleetDesk } from '../fleet/desk'
import type { History } from '../history/types'
import type { Emit } from '../ipc/register'
import type { Remotes } from '../remote'
import type { Runner } from '../runner/types'
import type { RecentFiles } from '../windows/recent-files'
import type { Faults } from './crash'
import type { Dialogs } from './dialogs'
import type { SettingsStore } from './settings-store'

/** What the handlers work with. */
export interface Services {
  history: History
  runner: Runner
  settings: SettingsStore
  dialogs: Dialogs
  remotes: Remotes
  /** The client of a fleet, loaded when first needed. */
  fleet(): Promise<FleetDesk>
  emit: Emit
  /** Opens one more window. Throws RangeError where there are too many. */
  openWindow(link?: Link): void
  /** Files imported last. */
  recent: RecentFiles
  /** Pinned baselines, and what finished sessions came to against them. */
  baselines: BaselineStore
  /** Faults of the app: `report` writes one down and tells the user. */
  faults: Faults
  /** Reads and writes files of sessions in a process of their own. */
  files: FilesApart
  /** Files the system had the app open. */
  opened: OpenedFiles
  /** Programs of interpreters that main has found since it started: what the page may choose among. */
  foundPrograms: Set<string>
  /** Things that went wrong while starting, for the user; empty when nothing did. */
  startNotices: readonly string[]
}

/** Files the system had the app open, imported at once and told to the page when it asks. */
export interface OpenedFiles {
  add(paths: readonly string[]): Promise<void>
  /** What became of them since this was asked last. */
  take(): Promise<Reply<'sessions:import'>>
}
