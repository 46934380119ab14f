import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { hostLabel } from '@core/fleet/collect'
import { HOST_NAME } from '@core/fleet/place'
import { cardSpread, SPREAD_COLUMNS } from '@core/fleet/spread'
import { HOST_WORDS, type FleetDevice } from '@core/fleet/state'
import { planSweep } from '@core/sweep/plan'
import { DEFAULT_GPU_ORDER } from '@core/settings'
import { sweepSpecSchema } from '@core/session/sweep-spec'
import type { SessionSummary } from '@core/session/types'
import { aboutDuration, formatDuration } from '@core/units'
import { readEnvironment } from '../../environment'
import { FleetAgent } from '../../fleet/agent'
import { PRESENCE_MS } from '../../fleet/messages'
import { cancelSession, queueSweep } from '../../fleet/sweep'
import type { Removed } from '../../fleet/stored'
import { devicesOf, drain, offers, presences, queues } from '../../fleet/client'
import { checkSettings, limitsOf, openLine, readFleet, writeFleet, type FleetLine, type FleetSettings } from '../../fleet/connect'
import { gather, unfinished } from '../../fleet/gather'
import { fleetView } from '../../fleet/watch'
import type { Context } from '../context'
import { findSession, readName, UsageError } from '../options/choices'
import { readGpus, readPicks, specOf, type SweepOptions } from '../options/sweep-options'
import { table, type Column } from '../output/tables'
import { allRows } from './sessions'

interface ServerOptions {
  server?: string
  creds?: string
  nkey?: string
  tlsCa?: string
  insecure?: boolean
}

const serverOptions = (command: Command): Command =>
  command
    .option('--server <url>', 'tls://host:4222 of NATS with JetStream (default: that of the last fleet command here)')
    .option('--creds <file>', 'credentials of NATS')
    .option('--nkey <file>', 'seed of an nkey')
    .option('--tls-ca <file>', 'certificate of the authority that signed the server\'s')
    .option('--insecure', 'without TLS to another machine, on a network that you trust')

/** The settings given, else those kept. */
function settingsOf(context: Context, { server, creds, nkey, tlsCa, insecure }: ServerOptions): FleetSettings {
  const kept = readFleet(context.paths.folder)
  if (server === undefined) {
    if (!kept) throw new UsageError('no NATS server is known yet; name one with --server tls://host:4222')
    return kept
  }
  const settings: FleetSettings = { server, ...(creds ? { creds: resolve(creds) } : {}), ...(nkey ? { nkey: resolve(nkey) } : {}), ...(tlsCa ? { tlsCa: resolve(tlsCa) } : {}), ...(insecure ? { insecure } : {}) }
  try {
    checkSettings(settings)
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error
  }
  return settings
}

/** Connects; a server that is named is kept for the next time once it can be used. */
async function lineOf(context: Context, options: ServerOptions, name: string): Promise<FleetLine> {
  const settings = settingsOf(context, options)
  const line = await openLine(settings, name, limitsOf(context.io.env))
  if (options.server !== undefined) writeFleet(context.paths.folder, settings)
  return line
}

/** Exit status where a session was cancelled, as of a run that was stopped. */
const STOPPED = 130

/** `opscope fleet up`: this machine measures for a fleet until it is drained or stopped. */
async function up(context: Context, options: ServerOptions & { name?: string; backends?: string; gpus?: string }): Promise<number> {
  const gpus = readGpus(options) ?? context.settings.gpus ?? DEFAULT_GPU_ORDER
  if (options.name !== undefined && !HOST_NAME.test(options.name)) throw new UsageError(`"${options.name}" cannot be the name of a machine; expected up to 40 letters, digits, dots and dashes`)
  const host = options.name ?? hostLabel(hostname())
  const wanted = options.backends?.split(',').map((id) => id.trim())
  const line = await lineOf(context, options, `opscope-agent ${host}`)
  try {
    const { devices: _devices, noiseFloors: _floors, ...facts } = readEnvironment([])
    const kinds = context.hostKinds().filter((kind) => kind.id !== 'webgpu' && (!wanted || kind.backends.some((id) => wanted.includes(id))))
    const agent = new FleetAgent({
      host, facts, kinds, line, gpus, limits: limitsOf(context.io.env), wants: ({ backend, software }) => (wanted ? wanted.includes(backend) : !software),
      warn: (message) => context.remark(`opscope: ${message}`),
      ready: () => context.remark(`opscope: ${host} measures for the fleet; opscope fleet drain ${host} ends that in good order`),
    })
    context.onStop = () => agent.leave()
    const measured = await agent.run()
    context.remark(`opscope: ${host} has left the fleet; it measured ${measured} ${measured === 1 ? 'case' : 'cases'}`)
    return 0
  } finally {
    await line.close()
  }
}

type StatusRow = Omit<FleetDevice, 'state'> & { host: string; state: string }
const seconds = (value: number | undefined) => (value === undefined ? '' : formatDuration(value))
const STATUS_COLUMNS: readonly Column<StatusRow>[] = [
  { title: 'host', cell: (r) => r.host },
  { title: 'device', cell: (r) => r.device },
  { title: 'name', cell: (r) => r.name },
  { title: 'state', cell: (r) => r.state },
  { title: 'case', cell: (r) => r.current ?? '' },
  { title: 'elapsed', align: 'right', cell: (r) => seconds(r.seconds) },
  { title: 'measured', align: 'right', cell: (r) => String(r.measured) },
  { title: 'queued', align: 'right', cell: (r) => String(r.waiting) },
  { title: 'time left', align: 'right', cell: (r) => seconds(r.secondsLeft) },
  { title: 'clock', align: 'right', cell: (r) => (r.smClockMhz === undefined ? '' : `${Math.round(r.smClockMhz)} MHz`) },
  { title: 'temp.', align: 'right', cell: (r) => (r.temperatureC === undefined ? '' : `${r.temperatureC} °C`) },
]

/** `opscope fleet status`: hosts, devices, what each measures, what waits. */
async function status(context: Context, options: ServerOptions & { json?: boolean }): Promise<number> {
  const line = await lineOf(context, options, 'opscope status')
  try {
    const [heard, lanes] = await Promise.all([presences(line, 2 * PRESENCE_MS), queues(line)])
    if (options.json) {
      context.printJson({ hosts: [...heard.values()], lanes })
      return 0
    }
    const waiting = lanes.reduce((sum, lane) => sum + lane.waiting, 0)
    const casesQueued = (count: number) => `${count} ${count === 1 ? 'case' : 'cases'} queued`
    const { hosts, shared, unserved } = fleetView([...heard.values()].map((presence) => ({ presence, at: 0 })), lanes, 0)
    const rows = hosts.flatMap(({ host, state, devices }) => devices.map((device) => ({ ...device, host, state: state === 'up' ? device.state : HOST_WORDS[state] })))
    if (rows.length > 0) context.print(table(rows, STATUS_COLUMNS))
    context.remark(`opscope: ${hosts.length} ${hosts.length === 1 ? 'host' : 'hosts'}, ${casesQueued(waiting)}`)
    for (const { host, reason } of hosts) if (reason !== undefined) context.remark(`opscope: ${host}: ${reason}`)
    for (const { model, waiting: count } of shared) context.remark(`opscope: ${casesQueued(count)} for any ${model}`)
    for (const { queue, waiting: count } of unserved) context.remark(`opscope: ${casesQueued(count)} for ${queue}, which has no connected agent`)
    for (const session of unfinished(context.history)) context.remark(`opscope: ${measuredText(session)}`)
    return 0
  } finally {
    await line.close()
  }
}

type FleetRunOptions = ServerOptions & SweepOptions & { name?: string; anyOfModel?: boolean; detach?: boolean }

/** `opscope fleet run`: puts a sweep into the queue, and collects what comes until all of it is there. */
async function run(context: Context, options: FleetRunOptions): Promise<number> {
  const name = readName(options.name)
  if (options.rounds === true || options.rounds === 'on') throw new UsageError('--rounds on: each case of a fleet is work of its own, so cases cannot take turns; measure in rounds with opscope run on the machine, or a remote one')
  const line = await lineOf(context, options, 'opscope run')
  try {
    const found = await offers(line)
    const devices = devicesOf(found)
    if (devices.length === 0) throw new Error('no agent answers; start one on a machine of the fleet: opscope fleet up')
    const picks = readPicks({ ...options, backends: options.backends ?? [...new Set(devices.map(({ backend }) => backend))].join(',') }, [...new Set(devices.map(({ backend }) => backend))])
    const { spec } = specOf(picks, options, devices)
    const checked = sweepSpecSchema.safeParse(spec)
    if (!checked.success) throw new UsageError(`the sweep cannot be kept: ${checked.error.issues[0]?.path.join('.')}: ${checked.error.issues[0]?.message}`)
    const plan = planSweep(spec, devices)
    if (plan.problems.length > 0 || plan.cases.length === 0) throw new UsageError(plan.problems.join('; ') || 'nothing can be measured')
    const { id, cases, used, seconds } = await queueSweep({ line, folder: context.paths.folder, history: context.history, presets: context.settings.presets, found, spec, plan, anyOfModel: options.anyOfModel === true, ...(name === undefined ? {} : { name }) })
    context.remark(`opscope: ${cases} ${cases === 1 ? 'case' : 'cases'} queued for ${used} ${used === 1 ? 'device' : 'devices'}, ${aboutDuration(seconds)} (session ${id})`)
    if (options.detach) return 0
    return await gatherHere(context, line, [id])
  } finally {
    await line.close()
  }
}

/** Takes results until these sessions are complete, nothing has come for `quietMs`, or a signal comes. */
async function gatherHere(context: Context, line: FleetLine, sessions: readonly string[], quietMs = Infinity): Promise<number> {
  const { history } = context
  const stop = new AbortController()
  context.onStop = () => stop.abort()
  let heardAt = performance.now()
  let taken = 0
  let cancelled = false
  const watch = setInterval(() => performance.now() - heardAt > quietMs && stop.abort(), 500)
  const left = await gather({
    history, folder: context.paths.folder, line, limits: limitsOf(context.io.env), sessions, signal: stop.signal, warn: (message) => context.remark(`opscope: ${message}`),
    stored: () => {
      heardAt = performance.now()
      taken += 1
      if (taken % 100 === 0) context.remark(`opscope: ${taken} results taken`)
    },
    finished: (id) => {
      const { planned, failures, name } = history.summary(id)
      context.remark(`opscope: ${planned} cases${failures > 0 ? `, ${failures} failed` : ''}: ${name} (session ${id})`)
    },
    cancelled: (id) => {
      cancelled = true
      context.remark(`opscope: cancelled, ${measuredText(history.summary(id))}`)
    },
  })
  clearInterval(watch)
  if (left > 0) context.remark(`opscope: ${taken} results taken, ${left} are still to come; opscope fleet collect takes them later, opscope fleet cancel cancels what is queued`)
  return cancelled ? STOPPED : left > 0 ? 1 : 0
}

const measuredText = ({ id, name, results, planned }: SessionSummary) => `${results} of ${planned} cases measured: ${name} (session ${id})`

/** `opscope fleet cancel`: takes what is left of a session out of the queue. */
async function cancel(context: Context, wanted: string, options: ServerOptions): Promise<number> {
  const { history } = context
  const sessions = context.sessions().filter(({ about }) => about?.kind === 'fleet')
  if (sessions.length === 0) throw new UsageError('no session here was queued for a fleet')
  const { id } = findSession(wanted, sessions)
  const line = await lineOf(context, options, 'opscope cancel')
  try {
    const removed: Removed[] = []
    await cancelSession({ line, folder: context.paths.folder, history, limits: limitsOf(context.io.env), id, removed, warn: (message) => context.remark(`opscope: ${message}`) })
    context.remark(`opscope: ${removed.length} ${removed.length === 1 ? 'case' : 'cases'} taken out of the queue, ${measuredText(history.summary(id))}`)
    return 0
  } finally {
    await line.close()
  }
}

/** `opscope fleet spread`: cards of one model over the machines of a session. */
function spread(context: Context, wanted: string, options: { json?: boolean }): number {
  const { id } = findSession(wanted, context.sessions())
  const found = cardSpread(allRows(context, id), context.history.getSession(id).environment.devices)
  if (options.json) context.printJson(found)
  else if (found.length === 0) context.remark('opscope: no case of this session was measured on two cards of one model')
  else context.print(table(found, SPREAD_COLUMNS.map(({ title, numeric, cell }) => ({ title, cell, ...(numeric ? { align: 'right' as const } : {}) }))))
  return 0
}

/** `opscope fleet up|status|run|collect|cancel|drain|spread`. */
export function addFleetCommands(program: Command, context: Context, done: (status: number) => void, sweepOptions: (command: Command) => Command): void {
  const fleet = program.command('fleet').description('measure on many machines through NATS JetStream')

  serverOptions(fleet.command('up').description('have this machine measure for the fleet, until it is drained or stopped'))
    .option('--name <name>', 'what to call this machine (default: its host name)')
    .option('--backends <list>', 'measure only with these (default: all that have hardware)')
    .option('--gpus <order>', 'several GPUs: in-turn, or side-by-side with a process for each (default: as set in the app, else in-turn)')
    .action(async (options: Parameters<typeof up>[1]) => done(await up(context, options)))

  serverOptions(fleet.command('status').description('show hosts, devices, what each measures and what waits'))
    .option('--json', 'print JSON')
    .action(async (options: Parameters<typeof status>[1]) => done(await status(context, options)))

  serverOptions(sweepOptions(fleet.command('run').description('measure a sweep on the fleet: on each picked device, or shared by those of one model')))
    .option('--any-of-model', 'a case may be measured by any device of the same model and driver')
    .option('--detach', 'do not wait for results; opscope fleet collect takes them later')
    .option('--name <text>', 'name of the session')
    .action(async (options: FleetRunOptions) => done(await run(context, options)))

  serverOptions(fleet.command('collect').description('take results that wait on the server into the history'))
    .option('--wait', 'until all that was asked for is there')
    .action(async (options: ServerOptions & { wait?: boolean }) => {
      const line = await lineOf(context, options, 'opscope collect')
      try {
        done(await gatherHere(context, line, unfinished(context.history).map(({ id }) => id), options.wait ? Infinity : 5000))
      } finally {
        await line.close()
      }
    })

  serverOptions(fleet.command('cancel').argument('<session>', 'id, the beginning of one, a name, or last').description('cancel the cases of a session that have no result: those queued, and those being measured'))
    .action(async (session: string, options: ServerOptions) => done(await cancel(context, session, options)))

  fleet
    .command('spread')
    .argument('<session>')
    .description('how much the cards of one model differ, case by case, with intervals over the cards')
    .option('--json', 'print JSON')
    .action((session: string, options: { json?: boolean }) => done(spread(context, session, options)))

  serverOptions(fleet.command('drain').argument('[host]', 'only this machine').description('have agents finish what they measure and take no more'))
    .action(async (host: string | undefined, options: ServerOptions) => {
      const line = await lineOf(context, options, 'opscope drain')
      try {
        await drain(line, host)
        context.remark(`opscope: ${host ?? 'every agent'} was asked to finish; what waits stays in the queue`)
        done(0)
      } finally {
        await line.close()
      }
    })
}
