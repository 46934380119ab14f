import type { PickedOp, SuiteGrid, SweepSpec } from '../session/sweep-spec'
import type { Library } from '../analysis/ratings/libraries'

/** Which processors a suite is about: the GPU where there is one (else the CPU), the CPU alone, or both. */
export type SuiteProcessors = 'gpu-first' | 'cpu' | 'both'

/** What a suite runs, in full or in a quick form. */
export interface SuiteExtent {
  /** Where the suite is about batch, sequence and dimension: by them its cases and its report can be narrowed. */
  grid?: SuiteGrid
  /** The operations over a part of that grid. */
  opsOf?: (grid: SuiteGrid) => readonly PickedOp[]
  ops: readonly PickedOp[]
  /** Where the suite has classes of sizes: the operations of each alone, by its name. */
  classes?: Readonly<Record<string, readonly PickedOp[]>>
  /** Parts of its composite operations that are measured beside them. */
  parts?: SweepSpec['parts']
  dtypes: SweepSpec['dtypes']
  modes: SweepSpec['modes']
  preset: SweepSpec['preset']
}

/** Sections of a suite's report (core/suites/report), in the order given. */
export type SuiteSection = 'summary' | 'times' | 'fastest' | 'memory' | 'crossovers' | 'classes' | 'axes' | 'bounds' | 'rates' | 'launches' | 'occupancy' | 'blocks' | 'flags'

/** A figure that the suite's own users publish, beside which the session's stand. */
export interface PublishedFigure {
  /** Operation and size, as the tables write them. */
  what: string
  /** Published times in ns, by implementation. */
  times?: Readonly<Record<string, number>>
  /** What is published of it in place of times, in words. */
  claim?: string
  /** The result of the session that answers it: operation, parameters that must match, dtype where they name one. */
  find: { op: string; params: Readonly<Record<string, number>> }
}

/** One of the benchmark suites that people come from; a file of core/suites/data. */
export interface Suite {
  /** As the file is called, and as `--suite` takes it. */
  id: string
  title: string
  /** One sentence: what question it answers. */
  about: string
  /** Whose suite it is: who comes with that question. */
  audience: string
  processors: SuiteProcessors
  /** CPU threads: one, or all. */
  threads: 'one' | 'all'
  /** Whether every implementation of the processor is measured (all SIMD levels), or the preferred ones. */
  impls: 'all' | 'preferred'
  /** Implementations of Python that it compares, of those that there are. */
  libraries: readonly string[]
  /** The library that speedups are over. */
  against: Library
  /** The rating of core/analysis/ratings that judges its results. */
  rating: string
  full: SuiteExtent
  quick: SuiteExtent
  sections: readonly SuiteSection[]
  /** Whether the fastest and slowest sample stand beside the mean. */
  extremes?: boolean
  /** The format (core/formats) of the suite's own result files, where Opscope writes it. */
  format?: string
  published: readonly PublishedFigure[]
  /** Where the published figures come from. */
  publishedOn?: string
  /** What its users publish about a whole section, in a sentence. */
  publishedAbout?: Readonly<Partial<Record<SuiteSection, string>>>
  /** Speedup over the library that its users publish of reductions, by axis. */
  publishedAxes?: Readonly<Record<string, string>>
}
