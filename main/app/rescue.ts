import { exportParts } from '@core/formats/registry'
import { writeFileAtomic } from '../write-file'
import type { Services } from './services'

/** Offers to save the results of a run that could not be stored, until they are saved or the user gives them up. */
export function offerRescue({ runner, dialogs }: Pick<Services, 'runner' | 'dialogs'>): void {
  async function offer(problem: string, unsaved: number): Promise<void> {
    const file = runner.unsaved()
    if (!file) return
    const message = unsaved === 1 ? 'One result could not be stored in the history' : `${unsaved} results could not be stored in the history`
    let detail = problem
    while (await dialogs.confirm({ message, detail: `${detail}\n\nThe whole session can be saved as a file and imported later. Without that these results are lost.`, action: 'Save as a file…' })) {
      const path = await dialogs.save('Save the session', `${file.session.name}.opscope.json`, { name: 'Opscope session', extensions: ['json'] })
      if (path === undefined) continue
      try {
        return writeFileAtomic(path, exportParts('json', file))
      } catch (error) {
        detail = error instanceof Error ? error.message : String(error)
      }
    }
  }
  runner.on('ended', ({ problem, unsaved }) => {
    if (problem !== undefined && unsaved !== undefined) void offer(problem, unsaved)
  })
}
