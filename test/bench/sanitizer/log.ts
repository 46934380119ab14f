/** One case between its marks in the output of compute-sanitizer. */
export interface SanitizedCase {
  /** As written by `beginMark`. */
  name: string
  /** It ended; else the process was killed or stopped in it. */
  done: boolean
  ms?: number
  /** Why the case could not run, by its own words. */
  failure?: string
  /** Reports of the tool, and the first of them with the kernel that it names. */
  errors: number
  first?: string
}

export const beginMark = (name: string): string => `opscope-case ${JSON.stringify({ begin: name })}`
export const endMark = (ms: number, failure?: string): string => `opscope-case ${JSON.stringify({ ms, ...(failure === undefined ? {} : { failure }) })}`

const MARK = /^opscope-case (\{.*\})$/
/** A report begins at the margin; frames, threads and addresses that belong to it are indented. */
const REPORT = /^========= (\S.*)$/
const NO_REPORT = /^(COMPUTE-SANITIZER|(ERROR|RACECHECK|LEAK) SUMMARY|Target application|No attachable process|Error: No attachable|Internal Sanitizer|Program hit .* on CUDA API call to cuCtxGetDevice)/
const KERNEL = /^=========\s+(?:at|in) (?:0x[0-9a-f]+ in )?([^\s+(]+)/

/**
 * What compute-sanitizer reported of each case, from the output of one or several runs in their order: a case that was begun in
 * several runs stands where it was first, as its last run found it. `outside` counts reports before the first case and between cases.
 */
export function readLog(text: string): { cases: SanitizedCase[]; outside: string[] } {
  const cases = new Map<string, SanitizedCase>()
  const outside: string[] = []
  let open: SanitizedCase | undefined
  let naming: SanitizedCase | undefined
  for (const line of text.split(/\r?\n/)) {
    const mark = MARK.exec(line)
    if (mark) {
      const said = parsed(mark[1]!)
      if (said.begin !== undefined) {
        open = { name: said.begin, done: false, errors: 0 }
        cases.set(said.begin, open)
      } else if (open) {
        Object.assign(open, { done: true, ms: said.ms, ...(said.failure === undefined ? {} : { failure: said.failure }) })
        open = undefined
      }
      naming = undefined
      continue
    }
    const report = REPORT.exec(line)?.[1]
    if (report !== undefined) {
      naming = undefined
      if (NO_REPORT.test(report)) continue
      if (!open) {
        outside.push(report)
        continue
      }
      if (++open.errors === 1) {
        open.first = report
        naming = open
      }
      continue
    }
    const kernel = naming && KERNEL.exec(line)?.[1]
    if (kernel) {
      naming!.first += ` (${kernel})`
      naming = undefined
    }
  }
  return { cases: [...cases.values()], outside }
}

function parsed(json: string): { begin?: string; ms?: number; failure?: string } {
  try {
    return JSON.parse(json) as { begin?: string; ms?: number; failure?: string }
  } catch {
    return {}
  }
}
