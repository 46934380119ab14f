import { z } from 'zod'
import { MAX_NAME, renameNamed, withNamed } from '../named'

export const MAX_SAVED_VIEWS = 200

const id = z.string().max(40)
const text = z.string().max(400)

/** Table columns in order, with widths in px. */
export const columnsSchema = z.array(z.object({ id, width: z.number().positive().max(2000).optional() })).max(100)

/** What the charts of a session show. */
const chartViewSchema = z.object({
  /** Id of the chart. */
  chart: id,
  /** Choices above the plots (axes, scale, baseline), by chart and control. */
  controls: z.record(id, z.record(id, text)),
  /** What the charts are narrowed to, by facet; null: all of it. */
  focus: z.record(id, text.nullable()),
  /** The series that is shown alone, by chart. */
  isolated: z.record(id, text),
})
export type ChartView = z.infer<typeof chartViewSchema>

/** What the table of results shows. */
const tableViewSchema = z.object({
  /** Words that rows must have. */
  quick: text,
  /** Whether the filters by column hold, and their texts by column. */
  filtering: z.boolean(),
  filters: z.record(id, text),
  /** Most important first. */
  sorts: z.array(z.object({ column: id, descending: z.boolean() })).max(40),
  columns: columnsSchema,
})
export type TableView = z.infer<typeof tableViewSchema>

const sessionViewSchema = z.object({ of: z.literal('session'), charts: chartViewSchema.optional(), table: tableViewSchema })

/** What a comparison shows: filter, order and groups of its cases. */
const compareViewSchema = z.object({
  of: z.literal('compare'),
  search: text,
  order: z.enum(['measured', 'effect', 'slower', 'faster']),
  /** All cases, those with a clear difference, or those that need more samples. */
  shown: z.enum(['all', 'different', 'ambiguous']),
  group: z.enum(['op', 'family', 'size']).optional(),
})
export type CompareView = z.infer<typeof compareViewSchema>

const viewSchema = z.discriminatedUnion('of', [sessionViewSchema, compareViewSchema])
/** The state of charts and table, of a session or of a comparison. */
export type View = z.infer<typeof viewSchema>
export type ViewOf = View['of']

/** A state that the user keeps under a name, unique among all; `about` says in words what it shows. */
const savedViewSchema = z.object({ name: z.string().trim().min(1).max(MAX_NAME), about: z.string().max(400), view: viewSchema })
export type SavedView = z.infer<typeof savedViewSchema>
export const savedViewsSchema = z.array(savedViewSchema).max(MAX_SAVED_VIEWS)

const KIND = { word: 'saved view', most: MAX_SAVED_VIEWS }

/** The list with this view (withNamed). */
export const withView = (list: readonly SavedView[], view: SavedView): SavedView[] => withNamed(list, view, KIND)

/** The list with one of them under another name (renameNamed). */
export const renameView = (list: readonly SavedView[], from: string, to: string): SavedView[] => renameNamed(list, from, to, KIND)
