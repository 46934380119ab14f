import type { Bench } from '../../test/bench/bench'

/** Words of the command line of a bench: those with a `=` are its arguments, the others names; throws for an unknown one. */
export function benchWords(words: readonly string[], known: readonly string[]): { names: string[]; args: Record<string, string> }

/** Runs one bench, prints its figures and writes them with date, commit and machine below `results`. */
export function runBench(what: { name: string; bench: Bench; args: Record<string, string>; root: string; results: string }): Promise<void>
