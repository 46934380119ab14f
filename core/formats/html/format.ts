import type { FileFormat } from '../file-format'

/** The writer with the chart library, once it is loaded: most processes list formats and write no report. */
let writer: typeof import('./session-report') | undefined

/** A report in one file, with live charts, to open in any browser without a network. */
const format: FileFormat = {
  id: 'html', title: 'HTML', description: 'Report with charts, in one file to send', extension: 'html', forSharing: true,
  async prepareExport() {
    writer ??= await import('./session-report')
  },
  exportSession(file, context) {
    if (!writer) throw new Error('the writer of HTML reports is not loaded; prepareExport("html") loads it')
    return writer.reportHtml(file, context)
  },
}
export default format
