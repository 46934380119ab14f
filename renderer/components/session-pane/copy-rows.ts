import type { Device } from '@core/backend'
import type { BenchmarkCase } from '@core/case'
import { commandLines, type How } from '@core/sweep/command-lines'
import { formatInteger } from '@core/units'
import { useCommand } from '../../commands/registry'
import { copyText } from '../../lib/clipboard'
import { useNotices } from '../../stores/notices'
import type { RowSource } from '../../stores/rows/result-rows'

const counted = (count: number, one: string, many: string) => `${formatInteger(count)} ${count === 1 ? one : many}`

/** "Copy as command line" and "Copy as JSON" for the selected rows, in the order they were measured. */
export function useCopyRows(context: () => { rows: RowSource; selected: ReadonlySet<string>; how: How; devices: readonly Device[] }) {
  const notices = useNotices()
  const picked = () => {
    const { rows, selected } = context()
    return [...selected].flatMap((id) => rows.indexOf(id) ?? []).sort((a, b) => a - b)
  }
  const some = () => context().selected.size > 0

  async function copyCommand(): Promise<void> {
    const { rows, how, devices } = context()
    const { lines, left } = commandLines(picked().map((row) => rows.case(row)), how, devices)
    const detail = left.length > 0 ? { detail: [...new Set(left.map(({ reason }) => reason))].join('\n') } : {}
    try {
      if (lines.length === 0) return notices.show({ level: 'warning', message: `No command can measure ${left.length === 1 ? 'this case' : 'these cases'} again.`, ...detail })
      await copyText(`${lines.join('\n')}\n`)
      notices.show({ level: left.length > 0 ? 'warning' : 'info', message: `Copied ${counted(lines.length, 'command', 'commands')}${left.length > 0 ? `; ${counted(left.length, 'case has', 'cases have')} none` : ''}.`, ...detail })
    } catch (error) {
      notices.fail(error, 'copy the command')
    }
  }

  async function copyJson(): Promise<void> {
    const { rows } = context()
    const list = picked().map((row) => rows.row(row))
    try {
      await copyText(`${JSON.stringify(list, null, 2)}\n`)
      notices.show({ level: 'info', message: `Copied ${counted(list.length, 'row', 'rows')} as JSON.` })
    } catch (error) {
      notices.fail(error, 'copy the rows')
    }
  }

  useCommand('table.copy-command', copyCommand, some)
  useCommand('table.copy-json', copyJson, some)
}

export type { How }

/** The command that measures this case again in the same way; undefined where no command can ask for it. */
export const commandLineOf = (c: BenchmarkCase, how: How): string | undefined => commandLines([c], how).lines[0]
