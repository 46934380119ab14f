import { shallowRef } from 'vue'

/** What becomes of files dropped on the window. */
export interface DropTarget {
  /** Shown while files are dragged: `Drop files to compare them`. */
  about: string
  take(files: readonly File[]): Promise<void>
}

const targets = shallowRef<readonly DropTarget[]>([])

/** Takes files dropped on the window until the returned function is called; the target provided last goes first. */
export function provideDropTarget(target: DropTarget): () => void {
  targets.value = [...targets.value, target]
  return () => {
    targets.value = targets.value.filter((other) => other !== target)
  }
}

/** The target in force; undefined: the window's own. */
export const dropTarget = (): DropTarget | undefined => targets.value.at(-1)
