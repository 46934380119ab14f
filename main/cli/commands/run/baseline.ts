import type { Command } from 'commander'
import { drain } from '@core/compare'
import { checkText, slowestText, withPin, type Pin } from '@core/compare/pinned'
import { MAX_NAME } from '@core/session/named'
import { BaselineStore } from '../../../baselines/baselines'
import { checkSteps } from '../../../baselines/check-steps'
import type { Context } from '../../context'
import { findSession, pickOne, UsageError } from '../../options/choices'
import { table } from '../../output/tables'

/** `opscope baseline`: sessions that later ones of the same cases on the same hardware are compared with. */
export function addBaselineCommands(program: Command, context: Context, done: (status: number) => void): void {
  const baseline = program.command('baseline').description('pin sessions as baselines of projects; every run of the same cases on the same hardware is then compared with them')
  baseline
    .command('list', { isDefault: true })
    .description('show the pinned baselines')
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => done(list(context, options.json === true)))
  baseline
    .command('pin')
    .argument('<session>')
    .option('--project <name>', 'the project; its baseline before is replaced (default: the name of the session)')
    .description('make a session the baseline of a project')
    .action((session: string, { project }: { project?: string }) => done(pin(context, session, project)))
  baseline
    .command('unpin')
    .argument('<project>')
    .description('end the comparisons with the baseline of a project; its session stays')
    .action((project: string) => done(unpin(context, project)))
}

const storeOf = ({ paths }: Context) => new BaselineStore(paths.baselines)

function list(context: Context, json: boolean): number {
  const sessions = new Map(context.sessions().map((session) => [session.id, session]))
  const rows = storeOf(context).read().pins.map(({ name, sessionId }) => ({ project: name, session: sessionId, name: sessions.get(sessionId)?.name ?? '(deleted)', createdAt: sessions.get(sessionId)?.createdAt ?? '' }))
  if (json) context.printJson(rows)
  else if (rows.length === 0) context.remark('opscope: no baseline is pinned; opscope baseline pin SESSION pins one')
  else context.print(table(rows, [{ title: 'project', cell: (r) => r.project }, { title: 'session', cell: (r) => r.session }, { title: 'name', cell: (r) => r.name }, { title: 'measured', cell: (r) => r.createdAt }]))
  return 0
}

function change(context: Context, make: (pins: readonly Pin[]) => Pin[]): void {
  const store = storeOf(context)
  try {
    store.setPins(make(store.read().pins))
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error
  }
}

function pin(context: Context, wanted: string, project: string | undefined): number {
  const session = findSession(wanted, context.sessions())
  const name = project ?? session.name.trim().slice(0, MAX_NAME).trim()
  change(context, (pins) => withPin(pins, { name, sessionId: session.id }))
  context.print(`“${session.name}” is the baseline of “${name.trim()}”.`)
  return 0
}

function unpin(context: Context, wanted: string): number {
  const { pins } = storeOf(context).read()
  if (pins.length === 0) throw new UsageError('no baseline is pinned')
  const project = pickOne('project', wanted, pins.map(({ name }) => name))
  change(context, (all) => all.filter(({ name }) => name !== project))
  context.print(`“${project}” has no baseline any more.`)
  return 0
}

/** Compares a session with its pinned baseline where it has one, and says what came of it in one line. */
export function tellPinned(context: Context, sessionId: string): void {
  const { pins } = storeOf(context).read()
  if (pins.length === 0) return
  const { compareThreshold: threshold, compareOpThresholds: byOp } = context.settings
  const check = drain(checkSteps(context.history, pins, sessionId, { threshold, byOp }))
  if (!check) return
  storeOf(context).addCheck(check)
  context.remark([`opscope: ${checkText(check)}`, ...check.slowest.map((one) => `opscope:   ${slowestText(one)}`)].join('\n'))
}
