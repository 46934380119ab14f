import type { Suite } from '@core/suites'

/** A file of a suite's reports: its format (core/formats) and its name in the folder. */
export interface SuiteFile {
  format: string
  name: string
}

/** What a suite leaves in the folder that the user chooses: tables, picture, report with charts, and the session to compare with later. */
export const suiteFiles = ({ id, format }: Pick<Suite, 'id' | 'format'>): SuiteFile[] => [
  { format: 'suite', name: `${id}.md` },
  { format: 'suite-json', name: `${id}.json` },
  { format: 'suite-picture', name: `${id}.svg` },
  { format: 'html', name: `${id}.html` },
  { format: 'json', name: `${id}.opscope.json` },
  ...(format === undefined ? [] : [{ format, name: `${id}.results.json` }]),
]
