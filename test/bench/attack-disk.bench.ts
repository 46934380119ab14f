import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { importSession } from '@core/formats/registry'
import { canMount, start, sweep, workFolder, type Ended, type Started } from './attack/command'
import type { Bench, Outcome } from './bench'

const reported = (text: string) => (text.match(/^add \d+ /gm) ?? []).length
/** Results in the file that a run has left in its working directory; none where it can not be imported. */
function saved(folder: string): number {
  const [name] = readdirSync(folder)
  const outcome = name === undefined ? undefined : importSession(name, readFileSync(join(folder, name), 'utf8'))
  return outcome?.ok ? outcome.file.results.length : 0
}

const MOUNT = 'mkdir -p "$OPSCOPE_DATA_DIR"; mount -t tmpfs -o size="$DISK" none "$OPSCOPE_DATA_DIR"; exec "$@"'
/** The disk's size decides when a run finds it full. */
const SIZES = ['256k', '320k', '400k', '480k', '560k', '640k', '760k', '900k']

/** What happens to the data folder in the middle of a run, once some results are stored. */
const VANISHING: Readonly<Record<string, (data: string) => void>> = {
  'removed': (data) => rmSync(data, { recursive: true }),
  'renamed': (data) => renameSync(data, `${data}-elsewhere`),
  'replaced by an empty one': (data) => {
    renameSync(data, `${data}-elsewhere`)
    mkdirSync(data)
  },
}

/**
 * Runs of the built command line (npm run build) on disks that fill up, and with a data folder that vanishes: each must
 * exit with 1, say why, and leave every result that it reported in a file that can be imported. Full disks need a system
 * that lets a process mount its own.
 */
const bench: Bench = async ({ say }): Promise<Outcome> => {
  const rows: { what: string; status: number; reported: number; saved: number; says: boolean }[] = []
  async function attack(what: string, begin: (folder: string, cwd: string) => Started, during: (run: Started, folder: string) => Promise<void> = () => Promise.resolve()): Promise<void> {
    const { folder, remove } = workFolder()
    const cwd = join(folder, 'here')
    mkdirSync(cwd)
    try {
      const run = begin(folder, cwd)
      await during(run, folder)
      const { status, text }: Ended = await run.ended
      const says = /history\.sqlite (could not be written: the disk is full|is gone|cannot be (made|opened): the disk is full|can be read but not written: the disk is full)/.test(text)
      rows.push({ what, status: status ?? -1, reported: reported(text), saved: saved(cwd), says })
      say(`${what}: status ${status}, ${reported(text)} reported, ${saved(cwd)} saved`)
    } finally {
      remove()
    }
  }
  if (canMount()) for (const size of SIZES) await attack(`disk of ${size}`, (folder, cwd) => start(sweep(400), { folder, cwd, env: { DISK: size }, script: MOUNT }))
  for (const [what, vanish] of Object.entries(VANISHING)) {
    await attack(`data folder ${what}`, (folder, cwd) => start(sweep(400), { folder, cwd }), async (run, folder) => {
      while (reported(run.text()) < 5 && run.child.exitCode === null) await pause(5)
      vanish(join(folder, 'data'))
    })
  }
  return {
    figures: [
      { name: 'runs on a disk that fills up', value: rows.filter(({ what }) => what.startsWith('disk')).length, unit: '', published: true },
      { name: 'runs whose data folder vanishes', value: rows.filter(({ what }) => what.startsWith('data')).length, unit: '', published: true },
      { name: 'results reported', value: rows.reduce((sum, row) => sum + row.reported, 0), unit: '', published: true },
      { name: 'of these lost', value: rows.reduce((sum, row) => sum + Math.max(0, row.reported - row.saved), 0), unit: '', aim: 0, better: 'less' },
      { name: 'exit statuses other than 1', value: rows.filter(({ status }) => status !== 1).length, unit: '', aim: 0, better: 'less' },
      { name: 'runs that do not say why', value: rows.filter(({ says }) => !says).length, unit: '', aim: 0, better: 'less' },
    ],
    rows,
  }
}
export default bench
