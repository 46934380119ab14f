import { suiteDocument } from '../../suites/report/document'
import type { FileFormat } from '../file-format'

/** The drawing with the chart library, once it is loaded. */
let drawing: typeof import('./picture') | undefined

/** The results of a suite in one picture, to paste beside its report. */
const format: FileFormat = {
  id: 'suite-picture', title: 'Suite picture', description: 'Speedups of the suite that the session is of, or its times, as an SVG picture', extension: 'svg', suffix: 'suite.svg', forSharing: true,
  async prepareExport() {
    drawing ??= await import('./picture')
  },
  exportSession(file, { ceilings }) {
    if (!drawing) throw new Error('the drawing of pictures is not loaded; prepareExport("suite-picture") loads it')
    const { suite, machine, figure } = suiteDocument(file, ceilings)
    return drawing.pictureSvg({ title: suite.title, lines: [figure.about, `${machine}. ${file.session.createdAt.slice(0, 10)}.`], figure })
  },
}
export default format
