import { MAX_SHARDS } from '@core/fleet/shard'

/** What a job asks of Slurm, as given. */
export interface JobOptions {
  tasks: number
  /** Folder on a file system that all nodes share: the plan, each task's history, logs. */
  folder: string
  /** What starts Opscope's command line on a node: program and first arguments. */
  command: readonly string[]
  gres: string
  exclusive: boolean
  partition?: string | undefined
  time?: string | undefined
  account?: string | undefined
  constraint?: string | undefined
  /** Whatever else a site needs, such as `--qos=long`. */
  extra?: readonly string[]
}

/** What may stand in a `#SBATCH` line, which Slurm reads without a shell. */
const WORD = /^[\w.,:@+*=&|()[\]/-]+$/
const SAFE_PATH = /^\/[\w.@+=:,/-]+$/
const EXTRA = /^--[a-z][a-z-]*(?:=[\w.,:@+*=&|()[\]/-]+)?$/

const quoted = (word: string) => (/^[\w.@+=:,/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

function checked(name: string, value: string, pattern: RegExp): string {
  if (!pattern.test(value)) throw new RangeError(`${name} "${value}" cannot stand in a batch script; use letters, digits and . _ - / = : , @ +`)
  return value
}

/** The sbatch script of an array whose task I measures shard I. Throws RangeError where a value cannot stand in one. */
export function batchScript({ tasks, folder, command, gres, exclusive, partition, time, account, constraint, extra = [] }: JobOptions): string {
  if (!(Number.isInteger(tasks) && tasks >= 1 && tasks <= MAX_SHARDS)) throw new RangeError(`--tasks expects a whole number from 1 to ${MAX_SHARDS}`)
  const at = checked('the folder', folder, SAFE_PATH)
  const given = Object.entries({ partition, time, account, constraint }).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${checked(`--${name}`, value, WORD)}`]))
  const directives = [
    '--job-name=opscope',
    `--array=1-${tasks}`,
    ...(gres === 'none' ? [] : [`--gres=${checked('--gres', gres, WORD)}`]),
    ...(exclusive ? ['--exclusive'] : []),
    // A task of a node that fails is started again, and goes on where it stopped.
    '--requeue',
    '--open-mode=append',
    `--output=${at}/task-%a.log`,
    ...given,
    ...extra.map((one) => checked('--sbatch', one, EXTRA)),
  ]
  return [
    '#!/bin/sh',
    ...directives.map((one) => `#SBATCH ${one}`),
    '',
    '# Each task has a history of its own: results are on disk before the next case begins.',
    `export OPSCOPE_DATA_DIR=${at}/task-$SLURM_ARRAY_TASK_ID`,
    `exec ${command.map(quoted).join(' ')} run --plan ${at}/plan.json --shard "$SLURM_ARRAY_TASK_ID/${tasks}"`,
    '',
  ].join('\n')
}
