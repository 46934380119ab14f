import { z } from 'zod'
import { findingSchema } from '../analysis/advice/types'
import { deviceSchema } from '../backend'
import { baselineCheckSchema, baselinesSchema, suiteCheckSchema } from '../compare/pinned'
import { compareRequestSchema, comparisonSchema, fileSideSchema } from '../compare/types'
import { fleetStateSchema, remoteActivitySchema } from '../fleet/state'
import { REDACTIONS } from '../formats/redact'
import { MAX_DROPPED_BYTES, type Channel, type EventName } from './names'
import { phaseSchema } from '../measure/protocol'
import { resultSchema } from '../result'
import { splitSchema } from '../session/derive'
import { linkSchema } from '../session/links'
import type { PackedBlock, RowBlock } from '../session/rows'
import { ceilingSchema, environmentSchema, noiseFloorSchema, MAX_SESSION_NAME, sessionSchema, sessionSummarySchema } from '../session/types'
import { pythonSettingsSchema, settingsSchema } from '../settings'
import { sweepSpecSchema } from '../session/sweep-spec'
import { capturedShapesSchema, sweepFileSchema } from '../sweep/capture'

/** Something the check of the history found. A note costs room only; an error makes something unreadable. */
export const fileFindingSchema = z.object({ level: z.enum(['error', 'note']), message: z.string(), detail: z.string().optional() })
export type FileFinding = z.infer<typeof fileFindingSchema>

/** What was looked at, and what is wrong with it: nothing where there are no findings. */
const checkReportSchema = z.object({
  findings: z.array(fileFindingSchema),
  sessions: z.number().int().nonnegative(),
  results: z.number().int().nonnegative(),
  /** Size of the file. */
  bytes: z.number().nonnegative(),
  ms: z.number().nonnegative(),
})
export type CheckReport = z.infer<typeof checkReportSchema>

/** A file that holds a history, and how much. */
const historyFileSchema = z.object({ name: z.string(), sessions: z.number().int().nonnegative(), results: z.number().int().nonnegative(), bytes: z.number().nonnegative() })
export type HistoryFile = z.infer<typeof historyFileSchema>

/** How far a check, backup or restore is: a step in words, and its share from 0 to 1 where it can be told. */
const maintenanceProgressSchema = z.object({ step: z.string(), share: z.number().min(0).max(1).optional() })
export type MaintenanceProgress = z.infer<typeof maintenanceProgressSchema>

/** Whether the system opens session files (`*.opscope.json`) with Opscope. */
const associationSchema = z.object({
  /** `here`: the app registers itself; `installer`: only the installer can. */
  how: z.enum(['here', 'installer']),
  /** Whether they open with this copy of the app. False where only the installer knows. */
  on: z.boolean(),
  /** The command of another copy of Opscope that they open with. */
  other: z.string().optional(),
  /** What the last change could not do, in sentences. */
  notes: z.array(z.string()),
})
export type Association = z.infer<typeof associationSchema>

/**
 * The whole contract between the visible page and main. Every request is registered through one function that checks
 * the sender, then the payload, before any effect. The page names no path: opening and saving go through dialogs in main.
 */
const none = z.undefined()
const id = z.string().min(1).max(64)
/** `total`: rows of the whole session. */
const sessionRows = z.custom<PackedBlock & { total: number }>((value) => typeof value === 'object' && value !== null && 'caseOf' in value)
const rowBlock = z.custom<RowBlock>((value) => typeof value === 'object' && value !== null && 'caseOf' in value)

/** Result of anything that goes through a file dialog. `cancelled` is not an error. */
const fileReply = z.discriminatedUnion('done', [z.object({ done: z.literal(true), name: z.string() }), z.object({ done: z.literal(false) })])

/** What became of files: the sessions that came in, one message for each file that did not, and what contradicted itself in those that did. `alreadyHere`: the history held this very session before, so there are two of it now. */
const importReply = z.object({ /** Captured sweeps among them, which are no sessions. */ sweeps: z.array(sweepFileSchema), imported: z.array(sessionSummarySchema.extend({ alreadyHere: z.boolean().optional() })), problems: z.array(z.string()), warnings: z.array(z.string()) })

const droppedFile = z.object({ name: z.string().min(1).max(255), bytes: z.instanceof(Uint8Array).refine((bytes) => bytes.byteLength <= MAX_DROPPED_BYTES, 'at most 64 MiB') })

/** Files opened for comparing, as in importReply. */
const sidesReply = z.object({ sides: z.array(fileSideSchema), problems: z.array(z.string()), warnings: z.array(z.string()) })

/** A file format that can be written or read (core/formats), as the page lists it. */
const formatInfoSchema = z.object({ id: z.string(), title: z.string(), description: z.string(), extension: z.string(), exportable: z.boolean(), importable: z.boolean(), forSharing: z.boolean() })

const redactionSchema = z.enum(REDACTIONS)

/** Work on a file that takes long enough to be shown: adding it to the history, reading it to compare, writing it, copying what it would hold. */
const fileWorkSchema = z.enum(['import', 'open', 'export', 'copy'])
export type FileWork = z.infer<typeof fileWorkSchema>

const pairsOfSession = z.object({ sessionId: id, pairs: z.array(z.object({ baseline: id, side: id })).min(1).max(2000) })

const runStateSchema = z.object({
  phase: z.enum(['idle', 'starting', 'running', 'paused', 'stopping']),
  sessionId: id.optional(),
  sessionName: z.string().optional(),
  done: z.number().int(),
  total: z.number().int(),
  failures: z.number().int(),
  /** What is being measured now, in words: `layer_norm 16384x4096 bf16 cuda cold`. */
  current: z.string().optional(),
  currentPhase: phaseSchema.optional(),
  samples: z.number().int().optional(),
  /** Estimated seconds left, from the cases done so far and the plan's estimate. */
  secondsLeft: z.number().optional(),
})
export type RunState = z.infer<typeof runStateSchema>

/** A machine that ssh reaches: what the user calls it, and what ssh does. */
const remoteSchema = z.object({ name: z.string(), destination: z.string() })

/** A fault of the app that was written down on this machine: what it is, and when (ISO 8601). */
const faultSchema = z.object({ what: z.string(), at: z.string() })
export type FaultNote = z.infer<typeof faultSchema>

/** A sweep on the fleet; without devices on all that have its backends. */
const fleetOrderSchema = z.object({ spec: sweepSpecSchema, devices: z.array(z.string().max(80)).min(1).max(10_000).optional(), anyOfModel: z.boolean() })

const exportRequest = z.object({ id, format: z.string().min(1).max(60), /** What to leave out; the format's usual choice where absent. */ leaveOut: z.array(redactionSchema).max(REDACTIONS.length).optional() })

export const REQUESTS = {
  'app:info': { request: none, reply: z.object({ environment: environmentSchema.omit({ devices: true }), firstStart: z.boolean(), notice: z.string().optional(), platform: z.string(), /** Of the system, for dates and numbers (BCP 47). */ locale: z.string(), /** A fault reported before this page was there. */ fault: faultSchema.optional(), interrupted: z.array(sessionSummarySchema) }) },
  'settings:get': { request: none, reply: settingsSchema },
  'settings:set': { request: settingsSchema.partial(), reply: settingsSchema },
  /** Looks at one Python more: what the user has typed (a program, or the folder of an environment), else what they choose in a dialog. */
  'python:add': { request: z.object({ typed: z.string().trim().min(1).max(1000).optional() }), reply: z.discriminatedUnion('done', [z.object({ done: z.literal(true), python: pythonSettingsSchema, version: z.string() }), z.object({ done: z.literal(false) })]) },
  /** Runs a PyTorch script that the user chooses in a dialog, and tells what it called. `python`: one that main has found. `stopped`: by `capture:stop`. */
  'capture:run': {
    request: z.object({ python: z.string().min(1).max(4000) }),
    reply: z.discriminatedUnion('done', [
      z.object({ done: z.literal(true), script: z.string(), torch: z.string(), calls: z.number().int().nonnegative(), shapes: capturedShapesSchema, picks: sweepSpecSchema.pick({ ops: true, sizes: true, dtypes: true }), output: z.string(), stopped: z.boolean(), /** Why the script did not end well. */ problem: z.string().optional() }),
      z.object({ done: z.literal(false) }),
    ]),
  },
  /** Writes a captured sweep where the user chooses: what `opscope run --plan` measures and the window opens. */
  'capture:save': { request: sweepFileSchema, reply: fileReply },
  'capture:stop': { request: none, reply: z.object({ stopped: z.boolean() }) },
  'remotes:list': { request: none, reply: z.array(remoteSchema) },
  /** Connects by ssh, once the user has agreed in a dialog of main's, and keeps the machine where that worked. */
  'remotes:add': { request: z.object({ destination: z.string().trim().min(1).max(210), name: z.string().trim().min(1).max(40).optional() }), reply: z.discriminatedUnion('done', [z.object({ done: z.literal(true), remote: remoteSchema }), z.object({ done: z.literal(false) })]) },
  'remotes:remove': { request: z.object({ name: z.string().min(1).max(40) }), reply: z.array(remoteSchema) },
  /** Begins or ends listening to the agents; the state comes again by `fleet:state` while it is on. */
  'fleet:watch': { request: z.object({ on: z.boolean() }), reply: fleetStateSchema },
  /** Connects to a NATS server, once the user has agreed in a dialog of main's and picked the file of its credentials there, and keeps it where that worked. */
  'fleet:use': { request: z.object({ server: z.string().trim().min(1).max(1000), credentials: z.enum(['none', 'creds', 'nkey']), /** The certificate of the server is of an authority of its own, whose file is asked for. */ ownAuthority: z.boolean().optional(), insecure: z.boolean() }), reply: z.discriminatedUnion('done', [z.object({ done: z.literal(true), state: fleetStateSchema }), z.object({ done: z.literal(false) })]) },
  /** Has the agents, or that of one host, finish what they measure and take no more. */
  'fleet:drain': { request: z.object({ host: z.string().max(40).optional() }), reply: none },
  'fleet:collect': { request: none, reply: none },
  /** What a sweep comes to on the devices that answer now. */
  'fleet:plan': { request: fleetOrderSchema, reply: z.object({ /** Picks, cases and time, as above Run. */ text: z.string() }) },
  /** Queues a sweep on the devices of the fleet that have its backends and implementations, or on these. */
  'fleet:run': { request: fleetOrderSchema.extend({ name: z.string().trim().min(1).max(MAX_SESSION_NAME).optional() }), reply: z.object({ sessionId: id, cases: z.number().int(), devices: z.number().int() }) },
  /** Takes what is left of a session out of the queue; agents stop the cases of it that they measure. `undoable`: `fleet:restore` puts it back. */
  'fleet:cancel': { request: z.object({ sessionId: id }), reply: z.object({ /** Taken out of the queue. */ cases: z.number().int(), undoable: z.boolean() }) },
  'fleet:restore': { request: z.object({ sessionId: id }), reply: z.object({ cases: z.number().int() }) },
  'devices:list': { request: z.object({ refresh: z.boolean() }), reply: z.array(deviceSchema) },
  'ceilings:list': { request: none, reply: z.array(ceilingSchema) },
  /** Starts a run that measures the ceilings of these devices (all available ones when empty): of a processor those of the preferred level on one and on all threads, and of these choices; `all` of them. */
  'ceilings:measure': { request: z.object({ devices: z.array(z.string().max(80)).max(64), all: z.boolean().optional(), choices: z.array(z.object({ impl: z.string().max(80), threads: z.number().int().positive() })).max(500).optional() }), reply: z.object({ sessionId: id }) },
  /** Starts a run that compares cases of these devices (all available ones when empty) with themselves; ends with `noise:changed`. */
  'self-check:run': { request: z.object({ devices: z.array(z.string().max(80)).max(64), pairs: z.number().int().min(4).max(1000).optional() }), reply: z.object({ sessionId: id }) },
  'noise:list': { request: none, reply: z.array(noiseFloorSchema) },
  'run:start': { request: z.object({ spec: sweepSpecSchema, name: z.string().max(MAX_SESSION_NAME).optional() }), reply: z.object({ sessionId: id }) },
  'run:resume-session': { request: z.object({ sessionId: id }), reply: z.object({ sessionId: id }) },
  'run:pause': { request: none, reply: runStateSchema },
  'run:resume': { request: none, reply: runStateSchema },
  'run:stop': { request: none, reply: runStateSchema },
  'run:state': { request: none, reply: runStateSchema },
  'sessions:list': { request: z.object({ search: z.string().max(200), deleted: z.boolean() }), reply: z.array(sessionSummarySchema) },
  'sessions:get': { request: z.object({ id }), reply: z.object({ session: sessionSchema, environment: environmentSchema, results: z.number().int() }) },
  'sessions:rows': { request: z.object({ id, first: z.number().int().nonnegative(), count: z.number().int().positive().max(200_000) }), reply: sessionRows },
  /** What stands out in a session, most important first. Reads whole results: not for a session that is being measured. */
  'sessions:findings': { request: z.object({ id }), reply: z.array(findingSchema) },
  'sessions:result': { request: z.object({ resultId: id }), reply: resultSchema },
  'sessions:update': { request: z.object({ id, name: z.string().trim().min(1).max(MAX_SESSION_NAME).optional(), notes: z.string().max(100_000).optional(), tags: z.array(z.string().trim().min(1).max(60)).max(50).optional() }), reply: sessionSummarySchema },
  /** Deleted sessions stay restorable until the app has been closed for a day. */
  'sessions:delete': { request: z.object({ ids: z.array(id).min(1).max(10_000) }), reply: z.object({ deleted: z.number().int() }) },
  'sessions:restore': { request: z.object({ ids: z.array(id).min(1).max(10_000) }), reply: z.object({ restored: z.number().int() }) },
  /** An interrupted session counts as stopped early from now on, and is no longer offered at every start. */
  'sessions:end': { request: z.object({ id }), reply: sessionSummarySchema },
  'formats:list': { request: none, reply: z.array(formatInfoSchema) },
  /** `format` is checked against the formats there are. */
  'sessions:export': { request: exportRequest, reply: fileReply },
  /** The same text on the clipboard. Not done: cancelled. */
  'sessions:copy': { request: exportRequest, reply: z.discriminatedUnion('done', [z.object({ done: z.literal(true), bytes: z.number().int().nonnegative() }), z.object({ done: z.literal(false) })]) },
  /** What a session's file would tell of the machine or a person, by kind. */
  'sessions:identifying': { request: z.object({ id }), reply: z.array(z.object({ kind: redactionSchema, count: z.number().int().positive(), examples: z.array(z.string()) })) },
  /** Asks for files in a dialog. */
  'sessions:import': { request: none, reply: importReply },
  /** Stops the work that `transfer:progress` tells of. `stopped`: nothing of that file stays; false where there was none or it was done before. */
  'transfer:cancel': { request: none, reply: z.object({ stopped: z.boolean() }) },
  /** What became of the files that the system had the app open since this was asked last. */
  'sessions:take-opened': { request: none, reply: importReply },
  /** Files dropped on the window: their contents, because the page knows and names no path. */
  'sessions:import-dropped': { request: z.object({ dropped: z.array(droppedFile).min(1).max(50) }), reply: importReply },
  /** Tells how far it is by `compare:progress`. A new one takes the place of one that is not done. */
  'compare:run': { request: compareRequestSchema, reply: comparisonSchema },
  'compare:cancel': { request: none, reply: none },
  /** Files to compare without importing them: held in main's memory and stored nowhere. Their ids stand where a session's would. */
  'compare:open-files': { request: none, reply: sidesReply },
  'compare:drop-files': { request: z.object({ dropped: z.array(droppedFile).min(1).max(20) }), reply: sidesReply },
  'compare:forget-files': { request: z.object({ ids: z.array(id).max(100) }), reply: none },
  /** Names of the machines and persons behind these sides, for leaving them out of a report. */
  'compare:names': { request: z.object({ ids: z.array(id).min(1).max(200) }), reply: z.object({ hosts: z.array(z.string()), users: z.array(z.string()), serials: z.array(z.string()) }) },
  /** Saves a comparison the page wrote, as CSV or Markdown text. */
  'compare:save': { request: z.object({ name: z.string().min(1).max(200), kind: z.enum(['csv', 'md', 'html']), text: z.string().max(50_000_000) }), reply: fileReply },
  /** Starts a run that measures cells of a comparison within one session by interleaved ABBA blocks; baselines and sides are result ids of that session. */
  'compare:resolve': { request: pairsOfSession, reply: z.object({ sessionId: id }) },
  /** Whether that run would be refused here, and why (core/session/joinable.ts). */
  'compare:can-resolve': { request: pairsOfSession, reply: z.object({ reason: z.string().optional() }) },
  /** Saves a chart the page drew; data is a PNG data URL or SVG or CSV text. */
  'chart:save': { request: z.object({ name: z.string().min(1).max(120), kind: z.enum(['png', 'svg', 'csv']), data: z.string().max(50_000_000) }), reply: fileReply },
  /** One case (core/case.ts caseId) over all sessions, packed by core/analysis/case-history.ts. */
  'history:case': { request: z.object({ caseId: z.string().min(1).max(4000) }), reply: z.string() },
  /** These three work on the whole file, apart from main, and tell how far they are by `history:progress`. */
  'history:check': { request: none, reply: checkReportSchema },
  'history:backup': { request: none, reply: z.discriminatedUnion('done', [z.object({ done: z.literal(true), contents: historyFileSchema }), z.object({ done: z.literal(false) })]) },
  /** `kept`: file name under which the history as it was stays beside the restored one. */
  'history:restore': { request: none, reply: z.discriminatedUnion('done', [z.object({ done: z.literal(true), contents: historyFileSchema, kept: z.string(), upgradedFrom: z.number().int().optional() }), z.object({ done: z.literal(false) })]) },
  'sessions:tags': { request: z.object({ changes: z.array(z.object({ id, tags: z.array(z.string().trim().min(1).max(60)).max(50) })).min(1).max(10_000) }), reply: z.array(sessionSummarySchema) },
  /** The suite (core/suites) of each session that is of one, newest first. */
  'sessions:suites': { request: none, reply: z.array(z.object({ id, suite: z.string() })) },
  /** Writes all reports of a suite into a folder that is asked for in a dialog. `into`: the folder's name. `names`: those of the reports; fewer where it was cancelled meanwhile. */
  'suite:save': { request: z.object({ id, leaveOut: z.array(redactionSchema).max(REDACTIONS.length).optional() }), reply: z.discriminatedUnion('done', [z.object({ done: z.literal(true), into: z.string(), names: z.array(z.string()) }), z.object({ done: z.literal(false) })]) },
  /** What a session of a suite came to against the run before it of the same suite on the same hardware; nothing where there is none. */
  'suite:previous': { request: z.object({ id }), reply: z.object({ check: suiteCheckSchema.optional() }) },
  /** Into a new session; `differences` of the environments are in its notes too. */
  'sessions:merge': { request: z.object({ ids: z.array(id).min(2).max(200), name: z.string().trim().min(1).max(MAX_SESSION_NAME).optional() }), reply: z.object({ session: sessionSummarySchema, differences: z.array(z.string()) }) },
  'sessions:split': { request: z.object({ id, how: splitSchema }), reply: z.array(sessionSummarySchema) },
  /** Pinned baselines, and what the sessions that finished since came to against them. */
  'baselines:get': { request: none, reply: baselinesSchema },
  'baselines:set': { request: baselinesSchema.pick({ pins: true }), reply: baselinesSchema },
  'association:get': { request: none, reply: associationSchema },
  /** Registers the file type of sessions with the system for this user, or takes that back. */
  'association:set': { request: z.object({ on: z.boolean() }), reply: associationSchema },
  'shell:open-link': { request: z.object({ link: z.enum(['webgpu', 'licence']) }), reply: none },
  /** Opens one more window, with a view of the history where one is named. */
  'window:open': { request: z.object({ link: linkSchema.optional() }), reply: none },
  /** An error that nobody in the page has caught: goes into a report on this machine. */
  'fault:page': { request: z.object({ message: z.string().max(4000), stack: z.string().max(20_000).optional() }), reply: none },
  /** Shows the newest report of a fault in the file manager. */
  'fault:show': { request: none, reply: none },
} as const satisfies Record<Channel, { request: z.ZodType; reply: z.ZodType }>

export const EVENTS = {
  'run:state': runStateSchema,
  'run:results': z.object({ sessionId: id, block: rowBlock }),
  /** `problem` and `unsaved`: results could not be stored, and how many; main offers to save them as a file. */
  'run:ended': z.object({ sessionId: id, state: z.enum(['done', 'stopped']), failures: z.number().int(), outOfMemory: z.number().int().optional(), problem: z.string().optional(), unsaved: z.number().int().optional() }),
  'sessions:changed': z.object({ ids: z.array(id) }),
  'fleet:state': fleetStateSchema,
  /** What the devices of a remote machine do; none while it is not connected. */
  'remotes:state': z.object({ name: z.string(), devices: z.array(remoteActivitySchema) }),
  'devices:changed': z.array(deviceSchema),
  'ceilings:changed': z.array(ceilingSchema),
  'noise:changed': z.array(noiseFloorSchema),
  /** Calls of the script that is running, so far. */
  'capture:progress': z.object({ script: z.string(), calls: z.number().int().nonnegative() }),
  'compare:progress': z.object({ done: z.number().int().nonnegative(), total: z.number().int().nonnegative() }),
  /** How much of a file is read or written, from 0 to 1; without a share it has ended. */
  'transfer:progress': z.object({ work: fileWorkSchema, name: z.string(), share: z.number().min(0).max(1).optional() }),
  /** Files were opened with the app from outside; `sessions:take-opened` tells what became of them. */
  'sessions:opened': z.object({}),
  /** A finished session was compared with its pinned baseline. */
  'baselines:checked': baselineCheckSchema,
  /** By another window, or by a check. */
  'baselines:changed': baselinesSchema,
  'history:progress': maintenanceProgressSchema,
  /** A backup took the place of the history: everything the page knows of sessions is out of date. */
  'history:replaced': z.object({}),
  /** A menu item was chosen; ids are those of core/commands.ts. */
  'menu:command': z.object({ command: z.string() }),
  /** Another window has changed the settings. */
  'settings:changed': settingsSchema,
  /** A link to a view was opened outside the app; its sessions are in the history. */
  'link:opened': linkSchema,
  'fault:reported': faultSchema,
  'notice': z.object({ level: z.enum(['info', 'warning', 'error']), message: z.string(), detail: z.string().optional() }),
} as const satisfies Record<EventName, z.ZodType>

export type { Channel, EventName } from './names'
export type Request<C extends Channel> = z.input<(typeof REQUESTS)[C]['request']>
export type Reply<C extends Channel> = z.output<(typeof REQUESTS)[C]['reply']>
export type EventPayload<E extends EventName> = z.output<(typeof EVENTS)[E]>

/** What a refused or failed request looks like to the page. */
export interface IpcError {
  code: 'bad-request' | 'not-found' | 'busy' | 'failed' | 'refused'
  message: string
  detail?: string | undefined
}
export type IpcReply<C extends Channel> = { ok: true; value: Reply<C> } | { ok: false; error: IpcError }

/** The one object the preload exposes, as `window.opscope`. */
export interface OpscopeApi {
  invoke<C extends Channel>(channel: C, request: Request<C>): Promise<IpcReply<C>>
  on<E extends EventName>(event: E, listener: (payload: EventPayload<E>) => void): () => void
}
