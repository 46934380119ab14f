import { z } from 'zod'

/** Whether the system opens session files (`*.opscope.json`) with Opscope. */
export const associationSchema = z.object({
  /** `here`: the app registers itself; `installer`: only the installer can. */
  how: z.enum(['here', 'installer']),
  /** Whether they open with this copy of the app. False where only the installer knows. */
  on: z.boolean(),
  /** The command of another copy of Opscope that they open with. */
  other: z.string().optional(),
  /** What the last change could not do, in sentences. */
  notes: z.array(z.string()),
})
export type Association = z.infer<typeof associationSchema>
