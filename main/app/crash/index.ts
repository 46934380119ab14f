import { hostname } from 'node:os'
import { app, shell } from 'electron'
import { readEnvironment } from '../../environment'
import type { Emit } from '../../ipc/register'
import { thisUser } from '../../paths'
import type { Runner } from '../../runner/types'
import { CrashReports, keepLines, type Fault, type Report } from './report'

/** Faults of the app itself; what kernels do in measurement processes is in the results. */
export interface Faults {
  /** Writes a report on this machine and tells the user; nothing is sent. */
  report(fault: Fault): void
  /** The report that the user has not been told of yet by a page that was there. */
  untold(): Report | undefined
  /** Shows the newest report in the file manager. */
  show(): void
}

/** Reports faults in `folder`. Call early: the log of a report begins here. */
export function createFaults(folder: string, emit: Emit): Faults {
  const log = keepLines(process.stderr)
  const { electron, chrome, node, v8 } = process.versions
  const reports = new CrashReports({
    folder, log,
    environment: () => readEnvironment([]),
    versions: { opscope: app.getVersion(), electron, chrome, node, v8, platform: `${process.platform} ${process.arch}` },
    names: { hosts: [hostname()], users: thisUser().users, serials: [] },
    program: app.getAppPath(),
  })
  let pending: Report | undefined
  return {
    report(fault) {
      const written = reports.write(fault)
      if (!written) return
      pending = written
      emit('fault:reported', { what: written.what, at: written.at })
    },
    untold() {
      const report = pending
      pending = undefined
      return report
    },
    show() {
      if (reports.last) shell.showItemInFolder(reports.last.folder)
    },
  }
}

/** Reports processes of Electron that die: the GPU process outside a run, where no kernel can have brought it down. Pages report by their window. */
export function watchProcesses(faults: Faults, runner: Pick<Runner, 'state'>): void {
  app.on('child-process-gone', (_event, { type, reason, exitCode }) => {
    if (type !== 'GPU' || reason === 'clean-exit' || reason === 'killed' || runner.state().phase !== 'idle') return
    faults.report({ what: `The GPU process ended unexpectedly (${reason}, exit code ${exitCode})` })
  })
  app.on('render-process-gone', (_event, contents, { reason, exitCode }) => {
    if (reason === 'clean-exit' || !new URL(contents.getURL()).pathname.endsWith('/index.html') || contents.getURL().includes('/webgpu/')) return
    faults.report({ what: `The page of a window ended unexpectedly (${reason}, exit code ${exitCode})` })
  })
}
