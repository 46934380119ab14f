import { blockTimelines, type Timeline } from '../../analysis/block-timeline'
import { caseText, operationText, shapeText, threadText } from '../../case-words'
import { statusWord, type Result } from '../../result'
import { blockOf, rowAt } from '../../session/rows'
import type { SessionFile } from '../../session/types'
import type { ExportContext, FileFormat } from '../file-format'

/** An event of the trace event format: `M` names a process or thread, `X` has a start and a duration in µs. */
interface TraceEvent {
  ph: 'M' | 'X'
  pid: number
  tid: number
  name: string
  cat?: string
  ts?: number
  dur?: number
  args: Record<string, unknown>
}

const named = (what: 'process_name' | 'thread_name', name: string, pid: number, tid = 0): TraceEvent => ({ ph: 'M', pid, tid, name: what, args: { name } })

/** Process of the run itself; those of composite operations come before it. */
const RUN = 1000

/** The parts of composite operations one after the other: a process for each operation, a thread for each implementation. */
function partEvents(timelines: readonly Timeline[]): TraceEvent[] {
  const works = [...new Set(timelines.map(({ work }) => work))]
  return timelines.flatMap(({ work, case: c, parts }, i) => {
    const [pid, tid] = [works.indexOf(work) + 1, i + 1]
    return [
      ...(timelines.findIndex((one) => one.work === work) === i ? [named('process_name', work, pid)] : []),
      named('thread_name', [c.backend, c.impl, c.device, c.dtype, c.mode, threadText(c)].filter(Boolean).join(' '), pid, tid),
      ...parts.map(({ name, pass, case: of, result, startNs, ns, share, bytes, flops, bound, efficiency }): TraceEvent => ({
        ph: 'X', pid, tid, name, cat: pass, ts: startNs / 1000, dur: ns / 1000, args: { operation: `${operationText(of)} ${shapeText(of)}`, share, bytes, flops, ...(bound ? { bound } : {}), ...(efficiency === undefined ? {} : { efficiency }), result },
      })),
    ]
  })
}

/** The session as it was measured: a thread for each device, an event for each case from its start over its wall time. */
function runEvents(results: readonly Result[]): TraceEvent[] {
  const began = Math.min(...results.map(({ startedAt }) => Date.parse(startedAt)).filter(Number.isFinite))
  const devices = [...new Set(results.map(({ case: c }) => c.device))]
  return [
    named('process_name', 'Cases as measured', RUN),
    ...devices.map((device, i) => named('thread_name', device, RUN, i + 1)),
    ...results.flatMap(({ id, case: c, status, startedAt, wallMs, measuredMs, summary }): TraceEvent[] => {
      const at = Date.parse(startedAt)
      return Number.isFinite(at) ? [{ ph: 'X', pid: RUN, tid: devices.indexOf(c.device) + 1, name: caseText(c), cat: statusWord(status), ts: (at - began) * 1000, dur: wallMs * 1000, args: { status: statusWord(status), measured_ms: measuredMs, ...(summary ? { median_ns: summary.medianNs } : {}), result: id } }] : []
    }),
  ]
}

function exportTrace({ session, environment, results }: SessionFile, { ceilings }: ExportContext): string {
  const block = blockOf(results, 0)
  const timelines = session.spec ? blockTimelines(session.spec, results.map((_, i) => rowAt(block, i)), ceilings) : []
  const events = [...partEvents(timelines), ...(results.length > 0 ? runEvents(results) : [])]
  const head = JSON.stringify({ displayTimeUnit: 'ns', otherData: { session: session.name, createdAt: session.createdAt, cpu: environment.cpu, version: environment.appVersion } })
  return `${head.slice(0, -1)},"traceEvents":[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`
}

/** Trace events that Perfetto and chrome://tracing open: the parts of composite operations along time, and the run itself. */
const format: FileFormat = { id: 'chrome-trace', title: 'Chrome trace', description: 'Parts of a transformer block along time, and when each case was measured, for Perfetto or `chrome://tracing`', extension: 'json', suffix: 'trace.json', exportSession: exportTrace }
export default format
