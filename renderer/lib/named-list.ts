import { computed } from 'vue'
import type { Settings } from '@core/settings'
import { useNotices } from '../stores/notices'
import { useSettings } from '../stores/settings'

type Lists = Required<Pick<Settings, 'savedSweeps' | 'savedViews'>>

/**
 * Things that the user keeps under names, stored with the settings. What is done to the list is told, and can be undone; what cannot be
 * done is told with the reason.
 */
export function useNamedList<K extends keyof Lists, Item extends { name: string } = Lists[K][number]>(
  key: K,
  { word, renamed }: { word: string; renamed: (list: readonly Item[], from: string, to: string) => Item[] },
) {
  const settings = useSettings()
  const notices = useNotices()
  const all = computed(() => (settings.values[key] ?? []) as readonly Item[])
  const set = (list: readonly Item[]) => settings.set({ [key]: [...list] })

  /** Returns whether the list could be kept. */
  function keep(make: () => readonly Item[]): boolean {
    try {
      set(make())
      return true
    } catch (error) {
      notices.show({ level: 'error', message: error instanceof Error ? error.message : String(error) })
      return false
    }
  }

  /** Keeps the list, and says what was done, with Undo. */
  function change(make: (before: readonly Item[]) => readonly Item[], done: (before: readonly Item[]) => string): boolean {
    const before = all.value
    if (!keep(() => make(before))) return false
    notices.show({ level: 'info', message: done(before), undo: () => Promise.resolve(set(before)) })
    return true
  }

  /** Keeps what `make` puts into the list under this name, where it may replace another. */
  function save(name: string, make: (before: readonly Item[]) => readonly Item[]): boolean {
    const own = name.trim()
    return change(make, (before) => `${before.some((one) => one.name === own) ? 'Replaced' : 'Saved'} the ${word} “${own}”.`)
  }
  const rename = (from: string, to: string): boolean => keep(() => renamed(all.value, from, to))
  function remove(name: string): void {
    change((before) => before.filter((one) => one.name !== name), () => `Deleted the ${word} “${name}”.`)
  }
  return { all, save, rename, remove }
}
