import type { Command } from 'commander'
import { runAgent } from '../../agent'
import type { Context } from '../context'
import { table } from '../output/tables'
import { UsageError } from '../options/choices'

/** A name or destination that cannot be used is a mistake in the arguments. */
async function refusing<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error
  }
}

/** `opscope remote`, and `opscope agent` at the other end. */
export function addRemoteCommands(program: Command, context: Context, done: (status: number) => void): void {
  const remote = program.command('remote').description('measure on machines that ssh reaches')
  const json = ['--json', 'print JSON'] as const

  remote
    .command('add')
    .argument('<destination>', 'user@host, or a Host of your ssh config; a key must be set up')
    .description('add a machine: its devices are then called NAME/cpu, NAME/cuda:0, …')
    .option('--name <name>', 'what to call it (default: the first part of the host name)')
    .option(...json)
    .action(async (destination: string, options: { name?: string; json?: boolean }) => {
      const added = await refusing(() => context.remotes.add(destination, options.name))
      if (options.json) context.printJson(added)
      else context.print(`Added ${added.name} (${added.destination}). Its devices: opscope list devices`)
      done(0)
    })

  remote
    .command('list')
    .description('show the machines that were added')
    .option(...json)
    .action((options: { json?: boolean }) => {
      const remotes = context.remotes.store.list()
      if (options.json) context.printJson(remotes)
      else if (remotes.length === 0) context.remark('There is no remote machine yet; add one with: opscope remote add user@host')
      else context.print(table(remotes, [{ title: 'name', cell: (one) => one.name }, { title: 'destination', cell: (one) => one.destination }]))
      done(0)
    })

  remote
    .command('remove')
    .argument('<name>')
    .description('forget a machine; what was measured there is kept, and so is the agent in its ~/.cache/opscope')
    .action(async (name: string) => {
      await refusing(() => context.remotes.remove(name))
      context.print(`Removed ${name}.`)
      done(0)
    })

  program
    .command('agent')
    .description('serve the devices of this machine over the standard streams; started through ssh by opscope on another machine')
    .action(async () => {
      if (process.stdin.isTTY) throw new UsageError('opscope agent speaks to another Opscope, which starts it through ssh; add this machine there with: opscope remote add user@host')
      context.remark(`opscope: the agent ends: ${await runAgent(context.io.env)}`)
      done(0)
    })
}
