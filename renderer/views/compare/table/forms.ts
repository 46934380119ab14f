/** How much of each side a table of cases shows. `compact`: speedup and verdict alone; `tight`: of the verdict the sign alone. */
export interface TableForm {
  /** Widths of the columns of one side, and their sum in px. */
  columns: string
  width: number
  /** Least width of the first column, in px. */
  case: number
  /** Columns of one side. */
  span: number
  compact: boolean
  tight: boolean
}

/** Median, speedup, interval, verdict and grade. */
const WHOLE: TableForm = { columns: '88px 76px 112px 84px 60px', width: 420, case: 260, span: 5, compact: false, tight: false }
/** With the energy ratio and its verdict, where any side has them. */
const WITH_ENERGY: TableForm = { ...WHOLE, columns: `${WHOLE.columns} 132px`, width: WHOLE.width + 132, span: 6 }
/** Where several sides have no room for more; the details have the rest. */
const COMPACT: TableForm = { columns: '80px 96px', width: 176, case: 232, span: 2, compact: true, tight: false }
/** Four sides fit in the narrowest window. */
const TIGHT: TableForm = { ...COMPACT, columns: '76px 32px', width: 108, tight: true }

/** Px that a table takes with so many sides beside the baseline, whose column has `base` px. */
export const leastWidth = (form: TableForm, sides: number, base: number): number => form.case + base + form.width * sides

/** The form for a table that has `width` px, and how many of its sides are then out of sight to the right. A width of 0 is not known yet. */
export function formFor(width: number, sides: number, base: number, energy: boolean): { form: TableForm; hidden: number } {
  const whole = energy ? WITH_ENERGY : WHOLE
  const forms = sides > 1 ? [whole, COMPACT, TIGHT] : [whole]
  const form = width > 0 ? (forms.find((one) => leastWidth(one, sides, base) <= width) ?? forms.at(-1)!) : whole
  return { form, hidden: width > 0 ? Math.max(0, sides - Math.max(0, Math.floor((width - form.case - base) / form.width))) : 0 }
}
