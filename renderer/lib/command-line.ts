import type { BenchmarkCase } from '@core/case'
import { commandLines, type How } from '@core/sweep/command-lines'

export type { How }

/** The command that measures this case again in the same way; undefined where no command can ask for it. */
export const commandLineOf = (c: BenchmarkCase, how: How): string | undefined => commandLines([c], how).lines[0]
