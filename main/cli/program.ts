import { Command } from 'commander'
import { DTYPES } from '@core/case'
import { SELF_CHECK } from '@core/compare'
import { version } from '../../package.json'
import { associateFiles, exportSession, importFiles } from './commands/files'
import { ceilings, selfCheck } from './commands/machine'
import { capture } from './commands/capture'
import { compare } from './commands/compare'
import { defaultSweep, resume, run } from './commands/run/run'
import { addBaselineCommands } from './commands/run/baseline'
import { addFleetCommands } from './commands/fleet'
import { addHistoryCommands } from './commands/history'
import { list } from './commands/list'
import { addRemoteCommands } from './commands/remote'
import { sessions, show } from './commands/sessions'
import { addSlurmCommands } from './commands/slurm'
import type { CompareOptions } from './options/compare-options'
import type { Context } from './context'
import { findSession } from './options/choices'

const EXAMPLES = `
Examples:
  opscope run --ops softmax,layer_norm --backends cpu --preset quick
  opscope run --ops sum:axis=last+first --sizes "1024, 4096x{1024,8192}" --dtypes f32
  opscope run --sizes "vector=2^10..2^20 x4;matrix=1024x1024" --backends cpu,webgpu
  opscope run --ops softmax --backends cpu,python --impls avx2,numpy,torch
  opscope export last --format csv --out results.csv
  opscope compare last 3f2a
  opscope compare last --by impl --baseline "cpu avx2" --resolve
  opscope compare baseline.json last --fail-on slower --per-op-threshold softmax=3% --format markdown

A session is named by its id, the beginning of one, its exact name, or "last".
Exit status: 0 done, 1 a case failed or something could not be done, 2 arguments, 3 --fail-on or --baseline found a case it names, 130 stopped with Ctrl+C.`

/** The options that pick a sweep. */
const sweepOptions = (command: Command): Command =>
  command
    .option('--ops <list>', 'operations or families; or all; variants as sum:axis=last+first (default: one of each family)')
    .option('--sizes <text>', 'a preset, sizes, or vector=…;matrix=…;gemm=… (default: tour)')
    .option('--dtypes <list>', `${DTYPES.join(', ')} (default: f32)`)
    .option('--backends <list>', 'cpu, cuda, webgpu, python (default: cpu and cuda)')
    .option('--devices <list>', 'devices such as cuda:0, or gpubox/cuda:0 of a remote machine (default: all of the backends here)')
    .option('--impls <list>', 'implementations such as avx2, or all (default: the preferred one)')
    .option('--threads <list>', 'CPU thread counts, or max (default: max)')
    .option('--modes <list>', 'cold, hot, rotated, graph (default: cold and hot)')
    .option('--parts <pass>', 'also measure the parts of composite operations such as transformer_block: forward, or both for the backward pass as well')
    .option('--preset <name>', 'quick, standard or thorough (default: standard)')
    .option('--rule <rule>', 'when a case is sampled enough: relative-ci, fixed-count=100 or fixed-time=0.5s (default: the preset\'s)')
    .option('--ci <share>', 'target half width of the 95 % CI, such as 0.5%')
    .option('--min-samples <n>', 'minimum samples of a case')
    .option('--min-seconds <s>', 'minimum measured time of a case')
    .option('--max-seconds <s>', 'time limit of a case')
    .option('--energy [choice]', 'on: also measure the energy of a call, 13 s more for each case (default: off)')
    .option('--rounds [choice]', 'on, off or auto: measure the implementations of a case on a processor in interleaved rounds, for speedups on a noisy host (default: auto, on a noisy host)')
    .option('--repeats <n>', 'measure the whole sweep so many times, each in fresh processes (default: 1)')

/** The command line over one context; `done` takes the exit status of the command that ran. */
export function createProgram(context: Context, done: (status: number) => void): Command {
  const program = new Command('opscope')
    .description('Measures tensor operations on CUDA, WebGPU and CPU, beside NumPy and PyTorch, and keeps what it measured.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .showHelpAfterError('Run with --help to see what is possible.')
    .addHelpText('after', EXAMPLES)
    .configureOutput({ writeOut: (text) => void context.io.out.write(text), writeErr: (text) => void context.io.err.write(text), outputError: (text, write) => write(text.replace(/^error: /, 'opscope: ')) })
    .exitOverride()
  // Subcommands made by `command` inherit the settings above.
  const json = ['--json', 'print JSON'] as const

  sweepOptions(program.command('run').description('measure a sweep and keep it as a session'))
    .option('--gpus <order>', 'cases of several GPUs: in-turn, or side-by-side with a process for each (default: as set in the app, else in-turn)')
    .option('--suite <name>', 'a benchmark suite with its report (see list suites); --ops, --dtypes, --devices, --backends, and --sizes small of genesis, measure a part of it')
    .option('--quick', 'the quick form of the suite')
    .option('--where <list>', 'of the suite comprehensive only some sizes: batch=16+32,sequence=512,dimension=768')
    .option('--processor <name>', 'of a suite on CPU and GPU only one: cpu or gpu')
    .option('--out <folder>', 'write the reports of the suite there: Markdown, JSON, a picture (SVG), HTML with charts, and the session as a baseline for later')
    .option('--baseline <session>', 'compare with a session, a file, "pinned" (opscope baseline), or of a suite "previous", and exit with 3 on a regression')
    .option('--fail-on <list>', 'with --baseline: slower, faster, wrong or ambiguous (default: slower,wrong)')
    .option('--threshold <share>', 'with --baseline: differences below it count as none, such as 5% (default: as set in the app, else 1%)')
    .option('--sweep <name>', 'a sweep saved in the app (see list sweeps), in place of the picks above')
    .option('--plan <file>', 'measure the sweep of a file: what opscope capture has written (beside options that say where and how), or a plan of opscope slurm run')
    .option('--ceilings', 'first measure the ceilings of the levels and thread counts of the processor that the sweep uses, where they are not known')
    .option('--shard <i/n>', 'of a plan: only this part; one that was begun before goes on where it stopped')
    .option('--name <text>', 'name of the session')
    .option('--stop-after <s>', 'stop after so many seconds and keep what is measured; resume measures the rest')
    .option('--dry-run', 'only say how many cases that is')
    .option(...json)
    .action(async (options: Parameters<typeof run>[1]) => done(await run(context, options)))

  program
    .command('capture')
    .argument('<command...>', 'a Python and a script with its arguments, after --')
    .description('run a PyTorch script, and write the operations, shapes and dtypes that it calls as a sweep')
    .option('--out <file>', 'where to (default: the name of the script with .sweep.json)')
    .option('--name <text>', 'name of the sweep')
    .option(...json)
    .addHelpText('after', '\nExample: opscope capture -- python train.py --epochs 1\nOperations outside the catalogue are listed with their number of calls. Needs PyTorch 1.13 or newer in that Python.')
    .action(async (command: string[], options: Parameters<typeof capture>[2]) => done(await capture(context, command, options)))

  program
    .command('list')
    .argument('<what>', 'ops, sizes, suites, sweeps, backends, devices or formats')
    .description('show what can be picked')
    .option('--backends <list>', 'only these backends')
    .option(...json)
    .action(async (what: string, options: Parameters<typeof list>[2]) => done(await list(context, what, options)))

  program
    .command('devices')
    .description('the same as list devices')
    .option('--backends <list>', 'only these backends')
    .option(...json)
    .action(async (options: Parameters<typeof list>[2]) => done(await list(context, 'devices', options)))

  program
    .command('sessions')
    .description('list the history, newest first')
    .option('--search <text>', 'only sessions that match')
    .option(...json)
    .action((options: Parameters<typeof sessions>[1]) => done(sessions(context, options)))

  program
    .command('show')
    .argument('<session>')
    .description('show a session with its results')
    .option('--findings', 'show findings instead: low efficiency, noise, throttling, ...')
    .option(...json)
    .action(async (session: string, options: Parameters<typeof show>[2]) => done(await show(context, session, options)))

  program
    .command('export')
    .argument('<session>')
    .description('write a session as a file; opscope list formats shows the choices')
    .option('--format <name>', 'such as csv, json or html (default: from the file name)')
    .option('--out <file>', 'where to; - is stdout (default: -)')
    .option('--redact <list>', 'what to leave out: all, none, or host,user,paths,ids (default: all of reports, none of other files)')
    .action(async (session: string, options: Parameters<typeof exportSession>[2]) => done(await exportSession(context, session, options)))

  program
    .command('import')
    .argument('<files...>')
    .description('read sessions of Opscope and results of other tools; opscope list formats shows which')
    .option(...json)
    .action((files: string[], options: { json?: boolean }) => done(importFiles(context, files, options)))

  program
    .command('compare')
    .argument('<sessions...>', 'sessions, or files in any format that import reads')
    .description('compare sessions or files case by case, the first being the baseline; or with --by the cases of one')
    .option('--by <axis>', 'within one session: impl, backend, dtype, mode, threads, device or host')
    .option('--baseline <value>', 'with --by: the side to compare with, such as "cpu avx2" (default: the first)')
    .option('--ops <list>', 'only these operations')
    .option('--families <list>', 'only these families')
    .option('--dtypes <list>', 'only these dtypes')
    .option('--modes <list>', 'only these modes')
    .option('--backends <list>', 'only these backends')
    .option('--devices <list>', 'only these devices')
    .option('--hosts <list>', 'only these machines')
    .option('--threshold <share>', 'differences below it count as none, such as 2% (default: as set in the app, else 1%)')
    .option('--per-op-threshold <list>', 'thresholds of single operations, such as softmax=3%,add=0.5% (default: as set in the app)')
    .option('--fail-on <list>', 'exit with 3 when a case is slower, faster, wrong (failed verification) or ambiguous (unclear), such as slower,wrong (default: never)')
    .option('--format <name>', 'text, markdown (for a pull request), html (a report), csv or json (default: text)')
    .option('--redact <list>', 'what to leave out: all, none, or host,user,paths,ids (default: all of markdown and html, none of others)')
    .option('--resolve', 'with --by: resolve unclear cases with interleaved A/B/B/A measurements, then compare again')
    .option(...json)
    .addHelpText('after', '\nExit status: 0 compared, 1 measuring with --resolve failed, 2 arguments, 3 --fail-on found what it names, 130 stopped.\nWhat it found is listed on stderr, so that --format markdown can go to a file.')
    .action(async (wanted: string[], options: CompareOptions) => done(await compare(context, wanted, options)))

  program
    .command('resume')
    .argument('<session>')
    .description('measure what a stopped or interrupted session has left')
    .option(...json)
    .action(async (session: string, options: { json?: boolean }) => done(await resume(context, findSession(session, context.sessions()).id, options)))

  program
    .command('ceilings')
    .description('measure bandwidths, peak rates and launches of devices, and show them beside datasheets')
    .option('--backends <list>', 'only these backends (default: cpu and cuda)')
    .option('--devices <list>', 'only these devices')
    .option('--all', 'of a processor every level on every thread count (default: the preferred level on one and on all threads)')
    .option('--impls <list>', 'of a processor these levels too')
    .option('--threads <list>', 'and these thread counts')
    .option('--list', 'measure nothing, show what is known')
    .option(...json)
    .action(async (options: Parameters<typeof ceilings>[1]) => done(await ceilings(context, options)))

  program
    .command('self-check')
    .description('measure the noise floor: the smallest difference that can be detected on this machine (about 2 min a device)')
    .option('--backends <list>', 'only these backends (default: cpu and cuda)')
    .option('--devices <list>', 'only these devices')
    .option('--pairs <n>', `pairs for each device, 4 to 1000 (default: ${SELF_CHECK.pairs})`)
    .option(...json)
    .action(async (options: Parameters<typeof selfCheck>[1]) => done(await selfCheck(context, options)))

  program
    .command('default-sweep')
    .description('one operation of each family at one size, with an HTML report')
    .option(...json)
    .action(async (options: { json?: boolean }) => done(await defaultSweep(context, options)))

  program
    .command('associate')
    .description('open .opscope.json files with this copy of Opscope, for this user (Linux)')
    .option('--remove', 'take that back')
    .option(...json)
    .action((options: Parameters<typeof associateFiles>[1]) => done(associateFiles(context, options)))

  addBaselineCommands(program, context, done)
  addHistoryCommands(program, context, done)
  addRemoteCommands(program, context, done)
  addSlurmCommands(program, context, done, sweepOptions)
  addFleetCommands(program, context, done, sweepOptions)
  return program
}
