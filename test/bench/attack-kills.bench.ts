import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createRandom } from '@core/stats/random'
import { openHistory } from '../../main/history'
import { checkFile } from '../../main/history/maintenance/check'
import { start, sweep, workFolder } from './attack/command'
import type { Bench, Outcome } from './bench'

/** Cases of a run: more than any of them gets to. */
const CASES = 400
const reported = (text: string) => (text.match(/^add \d+ /gm) ?? []).length

/**
 * Runs of the built command line (npm run build) over one data folder, each killed at a moment that the seed decides.
 * Every result that was reported must be in the history, the history must pass its check, and no folder may stay behind
 * once the next start is over. count=20
 */
const bench: Bench = async ({ args, say }): Promise<Outcome> => {
  const count = Number(args['count'] ?? 20)
  const { folder, remove } = workFolder()
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary)
  const random = createRandom(20261122)
  const rows = []
  try {
    const file = join(folder, 'data', 'history.sqlite')
    for (let i = 0; i < count; i++) {
      const run = start(sweep(CASES), { folder, env: { TMPDIR: temporary } })
      while (reported(run.text()) < 1 && run.child.exitCode === null) await pause(5)
      await pause(random() * 400)
      run.child.kill('SIGKILL')
      const { text, signal } = await run.ended
      const { history } = openHistory(file)
      const [session] = history.interrupted()
      const stored = session ? history.rows(session.id, 0, CASES).ids.length : 0
      if (session) history.deleteSessions([session.id])
      history.close()
      const findings = checkFile(file).findings.filter(({ level }) => level === 'error').length
      rows.push({ kill: i, signal: signal ?? '', reported: reported(text), stored, findings })
      if (i % 5 === 4) say(`${i + 1} kills: ${rows.reduce((sum, row) => sum + row.stored, 0)} results stored`)
    }
    await start(['run', '--ops', 'add', '--sizes', 'vector=64', '--backends', 'fake', '--impls', 'steady', '--modes', 'hot'], { folder, env: { TMPDIR: temporary } }).ended
    return {
      figures: [
        { name: 'runs that were killed', value: rows.filter((row) => row.signal === 'SIGKILL').length, unit: '', published: true },
        { name: 'results reported before the kills', value: rows.reduce((sum, row) => sum + row.reported, 0), unit: '', published: true },
        { name: 'of these lost', value: rows.reduce((sum, row) => sum + Math.max(0, row.reported - row.stored), 0), unit: '', aim: 0, better: 'less' },
        { name: 'findings of the check', value: rows.reduce((sum, row) => sum + row.findings, 0), unit: '', aim: 0, better: 'less' },
        { name: 'folders left behind after one more start', value: readdirSync(temporary).filter((name) => name.startsWith('opscope-')).length, unit: '', aim: 0, better: 'less' },
      ],
      rows,
    }
  } finally {
    remove()
  }
}
export default bench
