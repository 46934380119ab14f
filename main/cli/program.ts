import { Command } from 'commander'
import { version } from '../../package.json'
import { ceilings } from './commands/ceilings'
import { compare } from './commands/compare'
import { defaultSweep } from './commands/default-sweep'
import { exportSession, importFiles } from './commands/files'
import { list } from './commands/list'
import { resume, run } from './commands/run'
import { selfCheck } from './commands/self-check'
import { sessions, show } from './commands/sessions'
import type { Context } from './context'
import { findSession } from './find-session'

const EXAMPLES = `
Examples:
  opscope run --ops softmax,layer_norm --backends cpu --preset quick
  opscope run --ops sum:axis=last+first --sizes "1024, 4096x{1024,8192}" --dtypes f32
  opscope run --sizes "vector=2^10..2^20 x4;matrix=1024x1024" --backends cpu,webgpu
  opscope export last --format csv --out results.csv
  opscope compare last 3f2a
  opscope compare last --by impl --baseline "cpu avx2" --more

A session is named by its id, the beginning of one, its exact name, or "last".
Exit status: 0 done, 1 a case failed or something could not be done, 2 arguments, 130 stopped with Ctrl+C.`

/** The command line over one context; `done` takes the exit status of the command that ran. */
export function createProgram(context: Context, done: (status: number) => void): Command {
  const program = new Command('opscope')
    .description('Measures tensor operations on CUDA, WebGPU and CPU, and keeps what it measured.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .showHelpAfterError('Run with --help to see what is possible.')
    .addHelpText('after', EXAMPLES)
    .configureOutput({ writeOut: (text) => void context.io.out.write(text), writeErr: (text) => void context.io.err.write(text), outputError: (text, write) => write(text.replace(/^error: /, 'opscope: ')) })
    .exitOverride()
  // Subcommands made by `command` inherit the settings above.
  const json = ['--json', 'print JSON'] as const

  program
    .command('run')
    .description('measure a sweep and keep it as a session')
    .option('--ops <list>', 'operations or families; variants as sum:axis=last+first (default: all)')
    .option('--sizes <text>', 'a preset, sizes, or vector=…;matrix=…;gemm=… (default: tour)')
    .option('--dtypes <list>', 'f32, f16, bf16, tf32 (default: f32)')
    .option('--backends <list>', 'cpu, cuda, webgpu (default: cpu and cuda)')
    .option('--devices <list>', 'devices such as cuda:0 (default: all of the backends)')
    .option('--impls <list>', 'implementations such as avx2, or all (default: the preferred one)')
    .option('--threads <list>', 'CPU thread counts, or max (default: max)')
    .option('--modes <list>', 'cold, hot, rotated, graph (default: cold and hot)')
    .option('--preset <name>', 'quick, standard or thorough (default: standard)')
    .option('--rule <rule>', 'when a case is sampled enough: relative-ci, fixed-count=100 or fixed-time=0.5s (default: the preset\'s)')
    .option('--ci <share>', 'half width of the 95 % interval to reach, such as 0.5%')
    .option('--min-samples <n>', 'samples a case has at least')
    .option('--min-seconds <s>', 'measured time a case has at least')
    .option('--max-seconds <s>', 'time after which a case ends as not converged')
    .option('--repeats <n>', 'measure the whole sweep so many times, each in fresh processes (default: 1)')
    .option('--name <text>', 'name of the session')
    .option('--dry-run', 'only say how many cases that is')
    .option(...json)
    .action(async (options: Parameters<typeof run>[1]) => done(await run(context, options)))

  program
    .command('list')
    .argument('<what>', 'ops, sizes, backends, devices or formats')
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
    .option(...json)
    .action((session: string, options: { json?: boolean }) => done(show(context, session, options)))

  program
    .command('export')
    .argument('<session>')
    .description('write a session as a file; opscope list formats shows the choices')
    .option('--format <name>', 'such as csv, json or html (default: from the file name)')
    .option('--out <file>', 'where to; - is stdout (default: -)')
    .action((session: string, options: Parameters<typeof exportSession>[2]) => done(exportSession(context, session, options)))

  program
    .command('import')
    .argument('<files...>')
    .description('read sessions of Opscope and results of other tools; opscope list formats shows which')
    .option(...json)
    .action((files: string[], options: { json?: boolean }) => done(importFiles(context, files, options)))

  program
    .command('compare')
    .argument('<sessions...>')
    .description('compare sessions case by case, the first being the baseline; or with --by the cases of one session')
    .option('--by <axis>', 'within one session: impl, backend, dtype, mode or threads')
    .option('--baseline <value>', 'with --by: the side to compare with, such as "cpu avx2" (default: the first)')
    .option('--threshold <share>', 'differences below it count as none, such as 2% (default: as set in the app, else 1%)')
    .option('--more', 'with --by: measure what is ambiguous by turns, then compare again')
    .option(...json)
    .action(async (wanted: string[], options: Parameters<typeof compare>[2]) => done(await compare(context, wanted, options)))

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
    .option('--list', 'measure nothing, show what is known')
    .option(...json)
    .action(async (options: Parameters<typeof ceilings>[1]) => done(await ceilings(context, options)))

  program
    .command('self-check')
    .description('compare cases with themselves: what differences this machine shows where there are none')
    .option('--backends <list>', 'only these backends (default: cpu and cuda)')
    .option('--devices <list>', 'only these devices')
    .option('--pairs <n>', 'pairs for each device, 4 to 1000 (default: 24)')
    .option(...json)
    .action(async (options: Parameters<typeof selfCheck>[1]) => done(await selfCheck(context, options)))

  program
    .command('default-sweep')
    .description('every operation once on every device, with an HTML report')
    .option(...json)
    .action(async (options: { json?: boolean }) => done(await defaultSweep(context, options)))

  return program
}
