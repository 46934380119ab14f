import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { makeFolder } from '../../paths'
import { collectedId, collectTasks, type TaskState } from '../../slurm/collect'
import { MAX_PLAN_NAME, planText, readPlan, type PlanOptions } from '../../slurm/plan'
import { batchScript } from '../../slurm/script'
import { oneLine } from '../../printable'
import { writeFileAtomic } from '../../write-file'
import type { Context } from '../context'
import { table } from '../output/tables'
import { readPicks } from '../options/sweep-options'
import { UsageError } from '../options/choices'

interface SlurmOptions extends PlanOptions {
  tasks: string
  dir: string
  name?: string
  gres: string
  exclusive: boolean
  partition?: string
  time?: string
  account?: string
  constraint?: string
  sbatch?: string[]
  opscope?: string
  print?: boolean
}

/** `opscope slurm run`: writes the plan and the script, and submits it. */
function submit(context: Context, options: SlurmOptions): number {
  const { tasks, dir, name, gres, exclusive, partition, time, account, constraint, sbatch, opscope, print = false, ...picks } = options
  // Mistakes are told here, not by every task on its node.
  readPicks(picks, context.backends())
  if (name !== undefined && (name.trim() === '' || name.length > MAX_PLAN_NAME)) throw new UsageError(`--name expects 1 to ${MAX_PLAN_NAME} characters, received ${name.length}`)
  const folder = resolve(dir)
  if (existsSync(join(folder, 'plan.json'))) throw new UsageError(`${folder} has a plan already; choose another folder, or collect it: opscope slurm collect ${folder}`)
  const count = Number(tasks)
  const command = opscope === undefined ? [process.execPath, process.argv[1]!] : [opscope]
  let script
  try {
    script = batchScript({ tasks: count, folder, command, gres, exclusive, partition, time, account, constraint, ...(sbatch ? { extra: sbatch } : {}) })
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error
  }
  makeFolder(folder)
  for (let index = 1; index <= count; index++) makeFolder(join(folder, `task-${index}`))
  writeFileAtomic(join(folder, 'plan.json'), [planText({ name: name ?? `Slurm, ${count} ${count === 1 ? 'task' : 'tasks'}`, tasks: count, options: picks })])
  writeFileAtomic(join(folder, 'job.sbatch'), [script])
  if (print) {
    context.output(script)
    context.remark(`opscope: nothing is submitted; do it with: sbatch ${join(folder, 'job.sbatch')}`)
    return 0
  }
  const { status, stdout, stderr, error } = spawnSync('sbatch', ['--parsable', join(folder, 'job.sbatch')], { encoding: 'utf8', env: context.io.env })
  if (error || status !== 0) {
    // So that the command can be given again, corrected.
    rmSync(join(folder, 'plan.json'), { force: true })
    throw new Error(error ? `sbatch could not be started (${error.message}); nothing is submitted. With --print the script is written for a machine that has it.` : `sbatch refused the job: ${oneLine(stderr.trim())}. Nothing is submitted; give the command again with other options.`)
  }
  context.print(stdout.trim().split(';')[0]!)
  context.remark(`opscope: submitted ${count} ${count === 1 ? 'task' : 'tasks'}; when they are done: opscope slurm collect ${folder}`)
  return 0
}

const words: Record<TaskState['state'], string> = { waiting: 'nothing measured yet', incomplete: 'incomplete', complete: 'complete', unreadable: 'cannot be read' }

/** `opscope slurm collect`: one session of what all tasks have measured. */
function collect(context: Context, dir: string, options: { partial?: boolean; json?: boolean }): number {
  const folder = resolve(dir)
  const plan = readPlan(join(folder, 'plan.json'))
  const { tasks, file } = collectTasks(plan, folder)
  const open = tasks.filter(({ state }) => state !== 'complete')
  const known = context.sessions().find(({ id }) => id === collectedId(plan))
  const take = file && !known && (open.length === 0 || options.partial)
  // A part has an id of its own: the whole may still be collected.
  const summary = take ? context.history.importSession(open.length === 0 ? file : { ...file, session: { ...file.session, id: `${file.session.id}-${Date.now()}` } }) : known
  if (options.json) context.printJson({ tasks, ...(summary ? { session: summary } : {}) })
  else if (open.length > 0)
    context.print(table(open, [{ title: 'task', cell: (t) => String(t.index) }, { title: 'state', cell: (t) => words[t.state] }, { title: 'measured', align: 'right', cell: (t) => String(t.results) }, { title: 'left', align: 'right', cell: (t) => (t.state === 'incomplete' ? String(t.left) : '') }, { title: 'host', cell: (t) => t.host ?? '' }, { title: 'problem', cell: (t) => t.problem ?? '' }]))
  if (open.length > 0) context.remark(`opscope: ${tasks.length - open.length} of ${tasks.length} tasks are complete${options.partial ? '' : '; --partial collects what there is'}`)
  if (known) context.remark(`opscope: this plan was collected before (session ${known.id})`)
  else if (summary) context.remark(`opscope: collected ${summary.results} results (session ${summary.id})`)
  return open.length === 0 ? 0 : 1
}

/** `opscope slurm run|collect`. */
export function addSlurmCommands(program: Command, context: Context, done: (status: number) => void, sweepOptions: (command: Command) => Command): void {
  const slurm = program.command('slurm').description('measure a sweep by the nodes of a Slurm cluster')

  sweepOptions(slurm.command('run').description('write and submit a job array whose tasks measure a shard each'))
    .requiredOption('--tasks <n>', 'tasks of the array')
    .requiredOption('--dir <folder>', 'new folder on a file system that all nodes share: the plan, the results, the logs')
    .option('--name <text>', 'name of the session')
    .option('--gres <text>', 'what each task needs, or none', 'gpu:1')
    .option('--no-exclusive', 'let other jobs use the node meanwhile')
    .option('--partition <name>', 'where the tasks run')
    .option('--time <limit>', 'time limit of a task, such as 02:00:00')
    .option('--account <name>', 'account that is charged')
    .option('--constraint <list>', 'features of nodes')
    .option('--sbatch <option...>', 'further options of sbatch, such as --qos=long')
    .option('--opscope <program>', 'what starts Opscope on a node (default: this one)')
    .option('--print', 'print the script, submit nothing')
    .action((options: SlurmOptions) => done(submit(context, options)))

  slurm
    .command('collect')
    .argument('<folder>')
    .description('make one session of what the tasks have measured')
    .option('--partial', 'also while tasks are left')
    .option('--json', 'print JSON')
    .action((folder: string, options: { partial?: boolean; json?: boolean }) => done(collect(context, folder, options)))
}
